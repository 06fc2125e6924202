"""Slots of a target: one after the other, the earliest deadline first."""

from __future__ import annotations

import math
import os
import stat
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegasus_bb.runtime.draining.target_folder import BURST, EXPIRES, Lease, Registry
from tests.runtime.draining.virtual import Clock, Steps, play

MIB = 1 << 20
LIMIT = 32 * MIB  # bytes per second


def lease(
    since: float | None, left: int = 100, deadline: float = math.inf, run: str = "r"
) -> Lease:
    return Lease(run, left, deadline, 0.0, since)


class Drainer:
    """A process that drains segments, and notes the slots that it got."""

    def __init__(self, clock: Clock, folder: str, deadline: float = math.inf) -> None:
        self.registry = Registry(folder, clock, clock.sleep)
        self.clock, self.deadline = clock, deadline
        self.got: list[tuple[float, int]] = []  # when, bytes

    def drains(self, sizes: list[int], later: float = 0.0) -> Steps:
        yield later
        left = sum(sizes)
        for size in sizes:
            since = self.clock()
            while True:
                mine = lease(since, left, self.deadline)
                wait = self.registry.ask(mine, size / LIMIT)
                if not wait:
                    break
                yield min(5.0, wait)
            self.got.append((self.clock(), size))
            left -= size
        self.registry.leave()


sizes = st.lists(st.integers(1, 64 * MIB), min_size=1, max_size=8)
starts = st.floats(0, 10)


@settings(max_examples=40, deadline=None)
@given(runs=st.lists(st.tuples(sizes, starts), min_size=1, max_size=5))
def test_slots_never_overlap_and_the_sum_keeps_to_the_limit(
    runs: list[tuple[list[int], float]],
) -> None:
    with TemporaryDirectory() as folder:
        clock = Clock()
        every = [Drainer(clock, folder) for _ in runs]
        play(clock, [d.drains(*run) for d, run in zip(every, runs, strict=True)])
    slots = sorted(slot for each in every for slot in each.got)
    assert len(slots) == sum(len(some) for some, _ in runs), "each segment has gone"
    for (begin, size), (after, _) in pairwise(slots):
        assert after >= begin - BURST + size / LIMIT - 1e-3
    for first in range(len(slots)):
        for last in range(first + 1, len(slots)):
            seconds = slots[last][0] - slots[first][0] + BURST
            moved = sum(size for _, size in slots[first:last])
            assert moved <= seconds * LIMIT * 1.05 + 1


def test_the_earliest_deadline_goes_first(tmp_path: Path) -> None:
    clock = Clock()
    first, late, early = (
        Drainer(clock, str(tmp_path), clock() + until) for until in (50, 900, 100)
    )
    play(
        clock,
        [
            first.drains([LIMIT]),
            late.drains([LIMIT], 0.1),
            early.drains([LIMIT], 0.2),
        ],
    )
    assert first.got < early.got < late.got


def test_a_dead_lease_frees_its_share(tmp_path: Path) -> None:
    clock = Clock()
    dead, other = (Registry(str(tmp_path), clock, clock.sleep) for _ in range(2))
    assert dead.ask(lease(clock(), 1000, clock() + 100), 0.0) == 0
    other.ask(lease(clock(), 1000, clock() + 100), 0.0)
    assert other.load == pytest.approx(20)
    clock.now += EXPIRES
    assert other.ask(lease(clock(), 800, clock() + 80), 0.0) == 0
    assert other.load == pytest.approx(10)


def test_one_who_is_first_and_never_goes_is_passed(tmp_path: Path) -> None:
    clock = Clock()
    hung, other = (Drainer(clock, str(tmp_path)) for _ in range(2))

    def renews() -> Steps:
        while True:
            hung.registry._renew(lease(0.0, deadline=0.0)._replace(heartbeat=clock()))
            yield 1.0

    play(clock, [renews(), other.drains([LIMIT, LIMIT], 0.1)], clock() + 120)
    assert len(other.got) == 2


@pytest.mark.parametrize("file", ["slots", "odd.lease"])
@pytest.mark.parametrize(
    "damage",
    [
        "",
        "[",
        "null",
        "{}",
        "[1, 2, 3]",
        '["a", "b"]',
        '["r", 1, 2, NaN, 3]',
        "[1e9, 9e9]",
        "[9e9, 9000000001]",
        "[NaN, NaN]",
        "\x00" * 64,
    ],
)
def test_what_can_be_no_slot_and_no_lease_does_not_count(
    tmp_path: Path, file: str, damage: str
) -> None:
    """Damaged, endless, or in the future: a clock has jumped."""
    (tmp_path / file).write_text(damage)
    clock = Clock(1e9)
    registry = Registry(str(tmp_path), clock)
    assert registry.ask(lease(clock(), 100, clock() + 10), 1.0) == 0
    assert registry.load == pytest.approx(10)


def test_all_who_may_write_to_the_folder_may_write_to_its_slots(tmp_path: Path) -> None:
    for mode, expected in ((0o1777, 0o666), (0o770, 0o660), (0o755, 0o600)):
        folder = tmp_path / f"{mode:o}"
        folder.mkdir()
        folder.chmod(mode)
        Registry(str(folder)).ask(lease(0.0), 0.0)
        assert stat.S_IMODE((folder / "slots").stat().st_mode) == expected
        (mine,) = folder.glob("*.lease")
        assert stat.S_IMODE(mine.stat().st_mode) == 0o644, "others read it"


@pytest.mark.parametrize("kind", ["fifo", "link"])
def test_what_another_user_put_there_is_not_followed(tmp_path: Path, kind: str) -> None:
    other = tmp_path / "mine"
    other.write_text("precious")
    folder = tmp_path / "shared"
    folder.mkdir()
    if kind == "fifo":
        os.mkfifo(folder / "slots")
    else:
        (folder / "slots").symlink_to(other)
    with pytest.raises(OSError):
        Registry(str(folder)).ask(lease(0.0), 1.0)
    assert other.read_text() == "precious"
