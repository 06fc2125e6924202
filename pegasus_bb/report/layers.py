"""What Darshan saw of one layer of calls (POSIX, MPI-IO, STDIO), added up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from functools import reduce
from typing import Any, NamedTuple, TypeVar

from pegasus_bb.model.run import Calls, Layer

Counts = TypeVar("Counts", Calls, Layer)


def merge_layers(layers: Iterable[Layer]) -> tuple[Layer, ...]:
    """Merge the layers of each name into one.

    The seconds of the slowest processes are added up, as if the programs of a task ran
    one after the other: whether they overlapped is unknown.
    """
    by_name: dict[str, list[Layer]] = {}
    for layer in layers:
        by_name.setdefault(layer.name, []).append(layer)
    return tuple(reduce(added, same) for same in by_name.values())


def added(one: Counts, other: Counts) -> Counts:
    """Add up numbers field by field; what one of them does not know is unknown."""
    sums: dict[str, Any] = {}
    for field in fields(one):
        pair = (getattr(one, field.name), getattr(other, field.name))
        if field.name != "name":
            sums[field.name] = None if None in pair else sum(pair)
    return replace(one, **sums)


class Spent(NamedTuple):
    """Seconds in the calls of one record of a Darshan module."""

    rank: int  # below 0: of all processes together
    read: float
    write: float
    meta: float
    slowest: float  # of all processes together: of that which took longest

    @property
    def together(self) -> float:
        return self.read + self.write + self.meta


class Times(NamedTuple):
    """Seconds of several records, in the order of model.run.Layer."""

    processes: int
    read_time: float
    write_time: float
    meta_time: float
    seconds: float
    slowest_read: float
    slowest_write: float


def times(spent: Sequence[Spent], processes: int) -> Times:
    """Sum up ``spent``, the records of a program of ``processes``.

    Of a record of all processes Darshan has the slowest one's seconds, not in what:
    they are divided as the sums are.
    """
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
    """Return the seconds of the process that took longest in those parts of the
    records."""
    own: dict[int, float] = {}
    shared = 0.0
    for record, part in parts:
        if record.rank >= 0:
            own[record.rank] = own.get(record.rank, 0.0) + part
        elif record.together > 0:
            shared += record.slowest * part / record.together
    return max(own.values(), default=0.0) + shared
