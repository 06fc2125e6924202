"""Who earns a place: exact for few files, within a stated part of a bound for many."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegasus_bb.placement import knapsack
from pegasus_bb.placement.bounds import bound
from pegasus_bb.placement.items import Item, Space
from pegasus_bb.placement.knapsack import Choice, choose

PERIODS = 6


@st.composite
def items(draw: st.DrawFn, most: int = 9) -> list[Item]:
    """Files that live in some of the periods; a size of 0 is a size."""
    found = []
    for number in range(draw(st.integers(0, most))):
        first = draw(st.integers(0, PERIODS - 1))
        last = draw(st.integers(first, PERIODS - 1))
        size = draw(st.integers(0, 30))
        found.append(
            Item(f"f{number}", size, size * draw(st.integers(0, 4)), first, last)
        )
    return found


even = st.integers(1, 60).map(lambda room: [room] * PERIODS)
uneven = st.lists(st.integers(0, 60), min_size=PERIODS, max_size=PERIODS)


def loads(items: Sequence[Item]) -> list[int]:
    return [
        sum(item.size for item in items if item.first <= period <= item.last)
        for period in range(PERIODS)
    ]


def fits(items: Sequence[Item], room: Sequence[int]) -> bool:
    return all(load <= there for load, there in zip(loads(items), room, strict=True))


def best(items: Sequence[Item], room: Sequence[int]) -> int:
    """By looking at every selection."""
    return max(
        sum(item.benefit for item in some)
        for number in range(len(items) + 1)
        for some in combinations(items, number)
        if fits(some, room)
    )


def kept(choice: Choice, items: Sequence[Item]) -> list[Item]:
    return [item for item in items if item.name in choice.kept]


@settings(max_examples=200, deadline=None)
@given(items(), even | uneven)
def test_few_files_are_chosen_as_well_as_can_be(
    files: list[Item], room: list[int]
) -> None:
    choice = choose(files, room)
    chosen = kept(choice, files)
    assert fits(chosen, room)
    assert sum(item.benefit for item in chosen) == choice.benefit
    assert choice.benefit == choice.bound == best(files, room)


@settings(max_examples=200, deadline=None)
@given(items(), even | uneven)
def test_the_bound_of_many_is_one_and_what_they_take_fits(
    files: list[Item], room: list[int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(knapsack, "EXACT", -1)  # as if there were too many
        choice = choose(files, room)
    chosen = kept(choice, files)
    assert fits(chosen, room)
    assert sum(item.benefit for item in chosen) == choice.benefit
    assert choice.benefit <= best(files, room) <= choice.bound


@settings(max_examples=200, deadline=None)
@given(items(most=60), even)
def test_many_reach_a_quarter_of_the_bound_where_room_is_even(
    files: list[Item], room: list[int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(knapsack, "EXACT", -1)
        choice = choose(files, room)
    assert 4 * choice.benefit >= choice.bound


def test_density_alone_would_take_the_crumb_and_leave_the_loaf() -> None:
    crumb, loaf = Item("crumb", 1, 2, 0, 0), Item("loaf", 100, 100, 0, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(knapsack, "EXACT", -1)
        assert choose([crumb, loaf], [100]).kept == {"loaf"}


def two(size: int, benefit: int, period: int) -> list[Item]:
    """A pair of which the period has room for one."""
    return [Item(f"{period}{n}", size, benefit, period, period) for n in range(2)]


@pytest.mark.parametrize(
    ("files", "room", "prices", "most"),
    [
        ([*two(6, 6, 0), *two(6, 6, 1)], [6, 6], [0.0, 0.0], 12),  # all as one
        ([*two(60, 60, 0), *two(6, 1, 1)], [60, 6], [0.0, 0.0], 62),  # the worst alone
        ([*two(6, 6, 0), *two(60, 6, 1)], [6, 100], [1.0, 0.1], 17),  # by prices
    ],
)
def test_the_least_relaxation_counts(
    files: list[Item], room: list[int], prices: list[float], most: int
) -> None:
    assert bound(files, room, prices) == most


@settings(max_examples=200, deadline=None)
@given(items(most=20), st.lists(st.integers(0, 90), min_size=PERIODS, max_size=PERIODS))
def test_room_is_what_was_there_less_what_was_taken(
    files: list[Item], room: list[int]
) -> None:
    space, inside = Space(room), list[Item]()
    for item in files:
        fitted = space.fits(item)
        assert fitted == all(
            there - load >= item.size
            for period, (there, load) in enumerate(
                zip(room, loads(inside), strict=True)
            )
            if item.first <= period <= item.last
        )
        if item.size % 3:
            space.take(item, 1)
            inside.append(item)
        if item.size % 2 and inside:
            space.take(inside.pop(0), -1)
