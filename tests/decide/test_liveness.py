"""How long files live on the tier, and how much that is at once."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.decide.decision import Ending
from pegasus_bb.decide.liveness import (
    largest_phase,
    lifetimes,
    live_bytes,
    live_in_levels,
    phase_ends,
)
from tests.support.user_files import User, job, sized, use


def chain() -> list[dict[str, object]]:
    """in -> a -> b -> c -> out, of 100, 10, 20, 30 and 5 bytes."""
    sizes = {"in": 100, "a": 10, "b": 20, "c": 30, "out": 5}
    return [
        job(
            f"J{n}",
            use(reads, "input", **sized(sizes[reads])),
            use(writes, "output", stageOut=writes == "out", **sized(sizes[writes])),
        )
        for n, (reads, writes) in enumerate(pairwise(sizes))
    ]


@pytest.fixture
def long(user: User) -> User:
    user.jobs = chain()
    return user


def lives(user: User) -> dict[str, tuple[int, int]]:
    return lifetimes(user.decide())


def live(user: User) -> tuple[int, int]:
    """Bytes in any order of the jobs, and in the planned one."""
    placement = user.decide()
    return placement.need, max(live_in_levels(user.given(), placement))


def test_a_file_lives_from_the_level_that_makes_it_to_the_last_that_reads_it(
    long: User,
) -> None:
    expected = {"in": (1, 1), "a": (1, 2), "b": (2, 3), "c": (3, 4), "out": (4, 4)}
    assert lives(long) == expected


@pytest.mark.parametrize(
    ("cleanup", "peak"),
    [("none", 165), ("leaf", 165), ("inplace", 110), ("constraint", 110)],
)
def test_less_is_there_at_once_if_files_are_removed_on_the_way(
    long: User, cleanup: str, peak: int
) -> None:
    long.ending = Ending(cleanup)
    assert live(long) == (165, peak)


def test_a_result_waits_for_its_stage_out_and_stays_where_there_is_none(
    long: User,
) -> None:
    long.jobs[0]["uses"][1]["stageOut"] = True
    del long.jobs[1]["uses"][0]
    assert lives(long)["a"] == (1, 2)
    long.ending = Ending(delivered=True, late=True)
    assert lives(long)["a"] == (1, 3)
    long.ending = Ending(delivered=False)
    assert lives(long)["a"] == (1, 3)
    assert lives(long)["b"] == (1, 2)


flows = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=7
)


def fits(pairs: list[tuple[int, int]], ends: list[int], limit: int) -> bool:
    """Whether phases that end after so many levels hold, counted out anew."""
    for begin, end in pairwise([0, *ends]):
        carried = sum(more - less for more, less in pairs[:begin])
        if carried + sum(more for more, _ in pairs[begin:end]) > limit:
            return False
    return True


def least_phases(pairs: list[tuple[int, int]], limit: int) -> int | None:
    """By trying every way to cut."""
    inner = range(1, len(pairs))
    found = []
    for mask in range(1 << len(inner)):
        ends = [end for place, end in enumerate(inner) if mask >> place & 1]
        if fits(pairs, [*ends, len(pairs)], limit):
            found.append(len(ends) + 1)
    return min(found, default=None)


@given(flows, st.integers(0, 40))
def test_the_fewest_phases_are_found(drawn: list[tuple[int, int]], limit: int) -> None:
    pairs = []
    held = 0
    for more, less in drawn:
        held += more
        pairs.append((more, min(less, held)))
        held -= min(less, held)
    born, dying = zip(*pairs, strict=True)
    ends = phase_ends(born, dying, limit)
    least = least_phases(pairs, limit)
    assert (None if ends is None else len(ends)) == least
    if ends is not None:
        assert fits(pairs, ends, limit)
        assert largest_phase(born, dying, ends) <= limit
    assert (max(live_bytes(born, dying)) <= limit) == (ends is not None)
