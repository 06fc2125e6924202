"""Which jobs get a reservation, worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.core.units import round_up
from pegasus_bb.decide.decision import Selection
from pegasus_bb.decide.job_reservation_selection import (
    Durations,
    JobCandidate,
    job_reservation_selection,
)
from pegasus_bb.model.placement import JobReservation

DURATIONS = Durations("levels", 10.0, {})


def whole(need: int) -> int:
    """Whole granules of ten."""
    return round_up(max(need, 1), 10)


def candidate(job: str, saved: int, lasts: float = 2.0) -> JobCandidate:
    own = JobReservation((), (job,), (), (), saved, whole(saved))
    return JobCandidate(job, own, saved, lasts, own.capacity)


def free(job: str, saved: int) -> JobCandidate:
    """On a disk of the node nothing is reserved."""
    return candidate(job, saved)._replace(reserved=0)


def select(
    candidates: Sequence[JobCandidate], needs: tuple[int, int], together: bool = True
) -> tuple[Sequence[JobCandidate], Selection]:
    return job_reservation_selection(
        candidates, needs, whole, DURATIONS, one_tier=together
    )


def names(taken: object) -> list[str]:
    assert isinstance(taken, list)
    return [candidate.job for candidate in taken]


ALONE = candidate("a", 30)
SHORT = candidate("short", 40, 1.0)
FREE = [free("a", 3), free("b", 8), free("c", 1)]


@pytest.mark.parametrize(
    ("some", "together", "taken", "shared", "own"),
    [
        ([ALONE], True, ["a"], 700, 60),
        ([candidate("a", 30, 10.0)], True, [], 1000, 0),  # it lasts too long
        ([candidate("long", 40, 9.0), SHORT], True, ["short", "long"], 200, 400),
        # It leaves 90 of 100 and needs 20: more than there was, so it would wait.
        ([candidate("a", 15, 0.1)], True, [], 1000, 0),
        ([candidate("a", 15, 0.1)], False, ["a"], 900, 2),
        ([candidate("a", 20, 0.1)], True, ["a"], 800, 2),
        (FREE, False, ["b", "a"], 900, 0),  # for a granule, the largest first
    ],
)
def test_jobs_whose_reservation_saves_more_than_it_takes_get_one(
    some: list[JobCandidate],
    together: bool,
    taken: list[str],
    shared: float,
    own: float,
) -> None:
    found, selection = select(some, (100, 100), together)
    assert names(found) == taken
    assert selection.persistent == 1000
    assert (selection.shared, selection.job_reservations) == (shared, own)


some_candidates = st.lists(
    st.tuples(st.integers(0, 50), st.floats(0.5, 12.0)), max_size=6
)


@given(some_candidates.filter(bool))
def test_any_single_job_reservation_that_pays_is_not_overlooked(
    pairs: list[tuple[int, float]],
) -> None:
    """Where all have one ratio, as many as pay are taken: no subset is better by more
    than the rounding of one granule."""
    lasts = pairs[0][1]
    few = [candidate(f"j{n}", 10 * (1 + n % 3), lasts) for n in range(len(pairs))]
    need = 200 + sum(each.saved for each in few)
    _, selection = select(few, (need, need))
    best = min(
        whole(need - sum(c.saved for c in some)) * 10.0
        + sum(c.reserved * c.duration for c in some)
        for size in range(len(few) + 1)
        for some in combinations(few, size)
    )
    assert selection.shared + selection.job_reservations == pytest.approx(best)
