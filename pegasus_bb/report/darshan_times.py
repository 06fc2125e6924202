"""Seconds in the calls that one Darshan module saw, split.

A record is of one process, or of all together: then Darshan has their sums and how long
the slowest took, not in what. That is divided as the sums are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Spent(NamedTuple):
    """What one record says, in seconds."""

    rank: int  # below 0: of all processes together
    read: float
    write: float
    meta: float
    slowest: float  # of all processes together: of that which took longest

    @property
    def together(self) -> float:
        return self.read + self.write + self.meta


class Times(NamedTuple):
    """Of several records; in the order of model.run.Layer."""

    processes: int
    read_time: float
    write_time: float
    meta_time: float
    seconds: float
    slowest_read: float
    slowest_write: float


def times(spent: Sequence[Spent], processes: int) -> Times:
    """Of ``spent``, of a program of ``processes``: of how many where one is of all."""
    ranks = {record.rank for record in spent}
    return Times(
        processes if min(ranks, default=-1) < 0 else len(ranks),
        sum(record.read for record in spent),
        sum(record.write for record in spent),
        sum(record.meta for record in spent),
        _longest((record, record.together) for record in spent),
        _longest((record, record.read) for record in spent),
        _longest((record, record.write) for record in spent),
    )


def _longest(parts: Iterable[tuple[Spent, float]]) -> float:
    """Of the process that took longest in those parts of the records."""
    own: dict[int, float] = {}
    shared = 0.0
    for record, part in parts:
        if record.rank >= 0:
            own[record.rank] = own.get(record.rank, 0.0) + part
        elif record.together > 0:
            shared += record.slowest * part / record.together
    return max(own.values(), default=0.0) + shared
