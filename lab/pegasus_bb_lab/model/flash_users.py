"""Users of a flash device. A full one deletes its oldest files (Koo et al., 5.2).

users:                 # each deletes its oldest files when its capacity is full
  count: 32
  threads: 2
  file: 64MB
  drop: 0.15           # share of its files
  capacities: [1, 2, 3, 4, 5, 6, 7, 8]
  configuration: 3     # 1: a stream's users have one capacity, 2: half, 3: none
"""

from __future__ import annotations

from dataclasses import dataclass

from pegasus_bb.model.document import Entry
from pegasus_bb.model.quantities import (
    check_mapping,
    read_count,
    read_positive,
    read_size,
)

CONFIGURATIONS = (1, 2, 3)
MOST = 1000  # users, workflows, tasks of a stage
_KEYS = ("count", "threads", "file", "drop", "capacities", "configuration")


@dataclass(frozen=True, slots=True)
class Users:
    count: int
    threads: int
    file: int  # bytes
    drop: float  # share of its files that a full user deletes, the oldest
    capacities: tuple[float, ...]  # relative
    configuration: int  # of CONFIGURATIONS


def read_users(entry: Entry) -> Users:
    check_mapping(entry, _KEYS, _KEYS)
    return Users(
        count=read_many(entry, "count"),
        threads=read_many(entry, "threads"),
        file=read_size(entry, "file"),
        drop=read_positive(entry, "drop", 1),
        capacities=_read_capacities(entry.below("capacities")),
        configuration=_read_configuration(entry.below("configuration")),
    )


def _read_capacities(entry: Entry) -> tuple[float, ...]:
    given = entry.data
    fits = isinstance(given, list) and all(
        type(each) in (int, float) and 0 < each <= MOST for each in given
    )
    if not fits or not given:
        what = f"capacities are a list of numbers above 0, at most {MOST}"
        raise entry.error(what, would_do="capacities: [1, 2, 4]")
    return tuple(map(float, given))


def _read_configuration(entry: Entry) -> int:
    if type(entry.data) is not int or entry.data not in CONFIGURATIONS:
        raise entry.error("configuration is 1, 2 or 3")
    return entry.data


def read_many(entry: Entry, key: str) -> int:
    """A whole number from 1 to MOST."""
    return read_count(entry, key, most=MOST)
