"""One process's pace: towards its deadline, by turns at targets, and never stopped."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from pegasus_bb.runtime.draining.pace import Drain, DrainTargetPace, Pace
from tests.runtime.draining.virtual import Clock

MIB = 1 << 20


def paced(clock: Clock, drain: Drain) -> Pace:
    return Pace(drain, clock, clock, clock.sleep)


def drained(clock: Clock, pace: Pace, size: int) -> list[tuple[float, int]]:
    """(when, bytes) of each segment, if the disk takes no time."""
    found = []
    while size:
        segment = min(size, pace.size)
        with pace.take(segment):
            found.append((clock() - 1e9, segment))
        size -= segment
    return found


def test_segment_k_of_n_joins_at_start_and_k_nths_of_the_time() -> None:
    clock = Clock()
    pace = paced(clock, Drain("run", 100 * MIB, seconds=1000))
    found = drained(clock, pace, 100 * MIB)
    assert len(found) == 100, "a quarter second of so low a rate is below 1 MiB"
    for k, (when, _) in enumerate(found):
        assert when == pytest.approx(k * 1000 / 100)
    later = paced(clock, Drain("run", 10 * MIB, seconds=1000, wait=500))
    begun = clock() - 1e9
    found = drained(clock, later, 10 * MIB)
    assert [when - begun for when, _ in found[:2]] == pytest.approx([500, 550])


def test_after_the_deadline_all_goes_at_once_and_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = Clock()
    pace = paced(clock, Drain("run", 10 * MIB, seconds=10))
    clock.now += 60
    assert {when for when, _ in drained(clock, pace, 10 * MIB)} == {60}
    assert capsys.readouterr().err.count("late") == 1


def test_once_the_last_job_has_computed_nothing_waits_any_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A forecast ten times too long would make the run ten times as long."""
    clock = Clock()
    over = tmp_path / "over"
    drain = Drain("run", 10 * MIB, seconds=1000, over=str(over))
    pace = paced(clock, drain)
    assert [when for when, _ in drained(clock, pace, 2 * MIB)] == [0, 100]
    over.touch()
    assert {when for when, _ in drained(clock, pace, 8 * MIB)} == {100}
    assert capsys.readouterr().err.count("earlier than predicted") == 1


def test_overload_is_said_once_and_keeps_to_the_limit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock()
    target = DrainTargetPace("scratch", str(tmp_path), 8 * MIB)
    pace = paced(clock, Drain("run", 800 * MIB, 10.0, [target]))
    found = drained(clock, pace, 800 * MIB)
    assert found[-1][0] == pytest.approx(100, rel=0.05), "as fast as the limit allows"
    said = capsys.readouterr().err
    assert said.count("target scratch is overloaded") == 1


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EROFS])
def test_a_registry_that_takes_no_writes_stops_no_copy(
    code: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_: object) -> int:
        raise OSError(code, os.strerror(code))

    clock = Clock()
    pace = paced(
        clock, Drain("r", MIB, targets=[DrainTargetPace("pfs", str(tmp_path), 1.0)])
    )
    monkeypatch.setattr(os, "rename", full)
    assert drained(clock, pace, MIB) == [(0, MIB)]
    assert os.strerror(code) in capsys.readouterr().err


def test_a_wall_clock_that_jumps_moves_no_deadline(tmp_path: Path) -> None:
    clock = Clock()
    wall = Clock(5e8)
    target = DrainTargetPace("pfs", str(tmp_path), 1000 * MIB)
    pace = Pace(Drain("run", 10 * MIB, 1000, [target]), clock, wall, clock.sleep)
    for jump in (0.0, 1e6, -2e6, 3e6, -1e6):
        wall.now += jump
        with pace.take(2 * MIB):
            pass
    assert clock() - 1e9 == pytest.approx(800, abs=1)
