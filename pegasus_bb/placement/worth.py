"""Which jobs get a room: those for which less is reserved than without.

A room is reserved in whole granules, so for small files it may cost more than it saves
on the shared reservation, which lasts longer, but has one rounding for all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import inf
from typing import NamedTuple

from pegasus_bb.model.placement import Worth
from pegasus_bb.placement.lasting import Lasting


class Candidate(NamedTuple):
    """A job that could have a room, with what it makes by what would become of it."""

    job: str
    private: Collection[str]  # LFNs that no other job reads
    share: Collection[str]  # that others read, or that the user wants on the tier
    write: Collection[str]  # that live on the PFS
    saved: int  # bytes of those that are private
    need: int  # and of those that are shared
    capacity: int  # of the room
    lasts: float  # how long that is kept
    reserved: int  # all of ``capacity``, or nothing: on a disk of the node

    @property
    def rank(self) -> tuple[float, int]:
        """What a room saves for what it costs; where it costs nothing what it saves."""
        cost = self.reserved * self.lasts
        return (self.saved / cost, 0) if cost else (inf, self.saved)


def worthwhile(
    candidates: Sequence[Candidate],
    needs: tuple[int, int],
    reserve: Callable[[int], int],
    lasting: Lasting,
    together: bool = True,
) -> tuple[Sequence[Candidate], Worth]:
    """Those that get a room, and the figures. O(n log n).

    ``needs`` are the bytes on the tier in mode persistent, and now without any room;
    ``reserve`` says how much is reserved for so many. The best ratio comes first, and
    as many are taken as make the least of all, which is never more than with none: nor
    are the shared reservation and the largest room, where they are ``together`` on one
    tier, ever more than what mode persistent reserves, so that a tier with room for
    that one has room for these.
    """
    whole, left = reserve(needs[0]), needs[1]
    ranked = sorted(candidates, key=lambda c: c.rank, reverse=True)
    taken, shared, rooms = 0, reserve(left), 0.0
    least, cost, largest = shared * lasting.span, 0.0, 0
    for number, candidate in enumerate(ranked, start=1):
        left -= candidate.saved
        cost += candidate.reserved * candidate.lasts
        largest = max(largest, candidate.reserved if together else 0)
        rest = reserve(left)
        if rest * lasting.span + cost < least and rest + largest <= whole:
            taken, shared, rooms = number, rest, cost
            least = rest * lasting.span + cost
    return ranked[:taken], Worth(
        unit=lasting.unit,
        span=lasting.span,
        persistent=whole * lasting.span,
        shared=shared * lasting.span,
        rooms=rooms,
        asked=len(ranked),
    )
