"""What no selection of files can exceed: three relaxations, the least of which counts.

Two let files be cut into pieces: over all crowded periods as one, and in the one that
is the most crowded. The third has a price for room in every period: what files earn
beyond the prices, and all room at its price, is a bound whatever the prices are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import ceil
from typing import NamedTuple

from pegasus_bb.placement.items import Item

_ROUNDING = 1 + 1e-9


class Priced(NamedTuple):
    """What room costs by period, and the items that are worth it, the best first."""

    of: list[float]
    order: list[Item]


def prices(items: Sequence[Item], room: Sequence[int]) -> tuple[Priced, Priced]:
    """Of items that take up to half of the room, and of larger ones: local ratio.

    Items are looked at by their end; one that is worth more than its room has cost so
    far raises the price of its last period by what it is worth. Taken in the opposite
    order, the small ones reach half of what their prices say is possible, and so do the
    large ones, where every period has the same room: the better of the two a quarter.
    """
    least = max(min(room, default=1), 1)
    small = [item for item in items if 2 * item.size <= least]
    large = [item for item in items if 2 * item.size > least]
    of_small = _raised(
        [(item, item.size, 1 / (least - item.size)) for item in small], len(room)
    )
    units = _raised([(item, 1, 1.0) for item in large], len(room))
    return of_small, Priced([2 * price / least for price in units.of], units.order)


def _raised(items: Sequence[tuple[Item, int, float]], periods: int) -> Priced:
    price, before, here = [0.0] * periods, [0.0] * (periods + 1), 0
    worth: list[Item] = []
    for item, weight, share in sorted(items, key=lambda entry: entry[0].last):
        while here < item.last:
            before[here + 1] = before[here] + price[here]
            here += 1
        cost = weight * (before[here] + price[here] - before[item.first])
        if item.benefit > cost:
            price[here] += (item.benefit - cost) * share
            worth.append(item)
    return Priced(price, worth[::-1])


def bound(items: Sequence[Item], room: Sequence[int], priced: Sequence[float]) -> int:
    """The least of the three. ``items`` all fit alone."""
    loads = _loads(items, len(room))
    over = [load - there for load, there in zip(loads, room, strict=True)]
    worst = over.index(max(over))
    whole = [more > 0 for more in over]
    alone = [period == worst for period in range(len(room))]
    return min(
        _in_pieces(items, room, whole),
        _in_pieces(items, room, alone),
        _at_prices(items, room, priced),
    )


def _loads(items: Sequence[Item], periods: int) -> list[int]:
    change = [0] * (periods + 1)
    for item in items:
        change[item.first] += item.size
        change[item.last + 1] -= item.size
    return list(accumulate(change[:-1]))


def _in_pieces(
    items: Sequence[Item], room: Sequence[int], counted: Sequence[bool]
) -> int:
    before = [0, *accumulate(counted)]
    dense = sorted(items, key=lambda item: item.density(before), reverse=True)
    left = sum(there for there, counts in zip(room, counted, strict=True) if counts)
    return relaxed(dense, before, left)


def relaxed(dense: Sequence[Item], counted: Sequence[int], left: int) -> int:
    """The benefit of items that may be cut, the densest first, in so much room."""
    benefit = 0
    for item in dense:
        cost = item.size * item.periods(counted)
        if cost > left:
            return benefit + item.benefit * left // cost
        benefit, left = benefit + item.benefit, left - cost
    return benefit


def _at_prices(
    items: Sequence[Item], room: Sequence[int], priced: Sequence[float]
) -> int:
    before = [0.0, *accumulate(priced)]
    value = sum(there * price for there, price in zip(room, priced, strict=True))
    for item in items:
        cost = item.size * (before[item.last + 1] - before[item.first])
        value += max(0.0, item.benefit - cost)
    return ceil(value * _ROUNDING)
