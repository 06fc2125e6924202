"""Which jobs get a room: those for which less is reserved than without.

A room is reserved in whole granules, so for small files it may cost more than it saves
on the shared reservation, which lasts longer, but has one rounding for all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pegasus_bb.model.placement import Room, Worth
from pegasus_bb.placement.lasting import Lasting


class Candidate(NamedTuple):
    """A job that could have a room."""

    job: str
    room: Room
    saved: int  # bytes that the shared reservation need not hold then
    lasts: float  # how long the room is kept

    @property
    def cost(self) -> float:
        """What the room reserves: bytes x time."""
        return self.room.capacity * self.lasts

    @property
    def ratio(self) -> float:
        """What it saves for what it costs."""
        return self.saved / self.cost


def worthwhile(
    candidates: Sequence[Candidate],
    needs: tuple[int, int],
    reserve: Callable[[int], int],
    lasting: Lasting,
) -> tuple[Sequence[Candidate], Worth]:
    """Those that get a room, and the figures. O(n log n).

    ``needs`` are the bytes on the tier in mode persistent, and now without any room;
    ``reserve`` says how much is reserved for so many. The best ratio comes first, and
    as many are taken as make the least of all, which is never more than with none: nor
    are the shared reservation and the largest room together ever more than what mode
    persistent reserves, so that a tier with room for that one has room for these.
    """
    whole, left = reserve(needs[0]), needs[1]
    ranked = sorted(candidates, key=lambda c: c.ratio, reverse=True)
    least, taken, shared, rooms = reserve(left) * lasting.span, 0, reserve(left), 0.0
    cost, largest = 0.0, 0
    for number, candidate in enumerate(ranked, start=1):
        left -= candidate.saved
        cost += candidate.cost
        largest = max(largest, candidate.room.capacity)
        more = reserve(left) * lasting.span + cost
        if more < least and reserve(left) + largest <= whole:
            least, taken, shared, rooms = more, number, reserve(left), cost
    return ranked[:taken], Worth(
        unit=lasting.unit,
        span=lasting.span,
        persistent=whole * lasting.span,
        shared=shared * lasting.span,
        rooms=rooms,
        asked=len(ranked),
    )
