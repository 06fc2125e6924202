"""Which jobs get a reservation, worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.model.placement import JobReservation
from pegasus_bb.placement.decision import Selection
from pegasus_bb.placement.job_reservation_selection import (
    Candidate,
    Durations,
    job_reservation_selection,
)
from pegasus_bb.units import round_up

DURATIONS = Durations("levels", 10.0, {})


def whole(need: int) -> int:
    """Whole granules of ten."""
    return round_up(max(need, 1), 10)


def candidate(job: str, saved: int, lasts: float = 2.0) -> Candidate:
    own = JobReservation((), (job,), (), (), saved, whole(saved))
    return Candidate(job, own, saved, lasts, own.capacity)


def free(job: str, saved: int) -> Candidate:
    """On a disk of the node nothing is reserved."""
    return candidate(job, saved)._replace(reserved=0)


def select(
    candidates: Sequence[Candidate], needs: tuple[int, int], together: bool = True
) -> tuple[Sequence[Candidate], Selection]:
    return job_reservation_selection(candidates, needs, whole, DURATIONS, together)


def names(taken: object) -> list[str]:
    assert isinstance(taken, list)
    return [candidate.job for candidate in taken]


def test_a_job_reservation_that_saves_more_than_it_takes() -> None:
    taken, selection = select([candidate("a", 30)], (100, 100))
    assert names(taken) == ["a"]
    assert (selection.persistent, selection.shared, selection.job_reservations) == (
        1000,
        700,
        60,
    )


def test_one_that_lasts_too_long_does_not() -> None:
    taken, selection = select([candidate("a", 30, 10.0)], (100, 100))
    assert (names(taken), selection.shared, selection.job_reservations) == ([], 1000, 0)


def test_small_files_add_up_to_a_granule() -> None:
    """Each for itself saves nothing; ten together do."""
    few = [candidate(f"j{n}", 1, lasts=0.5) for n in range(10)]
    assert names(select(few[:9], (100, 100))[0]) == []
    assert len(select(few, (100, 100))[0]) == 10


def test_the_best_ratio_comes_first() -> None:
    some = [candidate("long", 40, 9.0), candidate("short", 40, 1.0)]
    assert names(select(some, (100, 100))[0])[0] == "short"


def test_a_job_reservation_that_a_full_tier_could_not_give_is_none() -> None:
    """It leaves 90 of 100 and needs 20: more than there was, so it would wait."""
    taken, _ = select([candidate("a", 15, 0.1)], (100, 100))
    assert names(taken) == []
    taken, _ = select([candidate("a", 20, 0.1)], (100, 100))
    assert names(taken) == ["a"]


def test_what_costs_nothing_is_had_for_a_granule_the_largest_first() -> None:
    few = [free("a", 3), free("b", 8), free("c", 1)]
    taken, selection = select(few, (100, 100), together=False)
    assert names(taken) == ["b", "a"]
    assert (selection.shared, selection.job_reservations) == (900, 0)


def test_on_a_tier_of_their_own_they_need_not_fit_beside_the_shared_one() -> None:
    few = [candidate("a", 15, 0.1)]
    taken, _ = select(few, (100, 100), together=False)
    assert names(taken) == ["a"]


some_candidates = st.lists(
    st.tuples(st.integers(0, 50), st.floats(0.5, 12.0)), max_size=6
)


@given(some_candidates, st.integers(0, 100))
def test_never_more_than_without(pairs: list[tuple[int, float]], rest: int) -> None:
    few = [candidate(f"j{n}", *pair) for n, pair in enumerate(pairs)]
    need = rest + sum(saved for saved, _ in pairs)
    taken, selection = select(few, (need, need))
    assert (
        selection.shared + selection.job_reservations
        <= selection.persistent
        == whole(need) * 10.0
    )
    assert selection.shared == whole(need - sum(each.saved for each in taken)) * 10.0
    assert selection.asked == len(few)


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
    assert selection.shared + selection.job_reservations == best
