"""Which files earn a place where there is not room for all.

A file's benefit is the bytes that tasks read and write there; it takes its size in
every period that it lives in, and no period may hold more than there is room. Exact
where up to ``EXACT`` files compete for room. Beyond, greedy, in O(n log n): what is
reached is at least a quarter of the bound that is given with it where every period has
as much room, as it is where nothing is pinned; in practice it is most of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from pegasus_bb.placement.bounds import bound, prices, relaxed
from pegasus_bb.placement.items import Item, Space

EXACT = 16  # competing files


@dataclass(frozen=True)
class Choice:
    """The items that stay. Benefits in bytes."""

    kept: frozenset[str]
    benefit: int
    bound: int  # no selection has more; the benefit itself where that is exact


def choose(items: Sequence[Item], room: Sequence[int]) -> Choice:
    """The best that is found of ``items``, for periods with so much ``room`` each."""
    space = Space(room)
    fit = [item for item in items if space.fits(item)]
    crowded = _crowded(fit, room)
    # What lives in uncrowded periods only has its place for certain.
    free = [item for item in fit if not item.periods(crowded)]
    rivals = [item for item in fit if item.periods(crowded)]
    solve = _exact if len(rivals) <= EXACT else _greedy
    chosen, most = solve(rivals, room, crowded)
    kept = frozenset(item.name for item in (*free, *chosen))
    sure = _benefit(free)
    return Choice(kept, sure + _benefit(chosen), sure + most)


def _crowded(items: Sequence[Item], room: Sequence[int]) -> list[int]:
    """How many periods before each cannot hold all that would live in them."""
    change = [0] * (len(room) + 1)
    for item in items:
        change[item.first] += item.size
        change[item.last + 1] -= item.size
    loads = accumulate(change[:-1])
    over = (load > there for load, there in zip(loads, room, strict=True))
    return [0, *accumulate(over)]


def _benefit(items: Sequence[Item]) -> int:
    return sum(item.benefit for item in items)


def _dense(items: Sequence[Item], crowded: Sequence[int]) -> list[Item]:
    return sorted(items, key=lambda item: item.density(crowded), reverse=True)


def _exact(
    rivals: Sequence[Item], room: Sequence[int], crowded: Sequence[int]
) -> tuple[list[Item], int]:
    """Branch and bound: with each item, then without, the densest first."""
    items, space = _dense(rivals, crowded), Space(room)
    best: list[Item] = []
    most = 0

    def search(place: int, chosen: list[Item], benefit: int, area: int) -> None:
        nonlocal best, most
        if benefit > most:
            best, most = chosen, benefit
        if benefit + relaxed(items[place:], crowded, area) <= most:
            return
        item = items[place]
        if space.fits(item):
            space.take(item, 1)
            left = area - item.size * item.periods(crowded)
            search(place + 1, [*chosen, item], benefit + item.benefit, left)
            space.take(item, -1)
        search(place + 1, chosen, benefit, area)

    periods = range(len(room))
    search(0, [], 0, sum(room[p] for p in periods if crowded[p + 1] > crowded[p]))
    return best, most


def _greedy(
    rivals: Sequence[Item], room: Sequence[int], crowded: Sequence[int]
) -> tuple[list[Item], int]:
    """The best of three selections."""
    dense = _dense(rivals, crowded)
    small, large = prices(rivals, room)
    found = [
        _filled([*first, *dense], room) for first in ([], small.order, large.order)
    ]
    both = [one + other for one, other in zip(small.of, large.of, strict=True)]
    best = max(found, key=_benefit)
    return best, max(bound(rivals, room, both), _benefit(best))


def _filled(items: Sequence[Item], room: Sequence[int]) -> list[Item]:
    space = Space(room)
    kept: dict[str, Item] = {}
    for item in items:
        if item.name not in kept and space.fits(item):
            space.take(item, 1)
            kept[item.name] = item
    return list(kept.values())
