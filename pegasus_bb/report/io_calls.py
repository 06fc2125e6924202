"""How many calls a Darshan module counted that cost time whatever their bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

_DATA = ("READS", "WRITES")
# Seeking is not among them: it never leaves the machine of the task. A file that is
# opened is closed, which Darshan counts nowhere.
_OPENS = ("OPENS", "FDOPENS")
_OTHERS = ("STATS", "FSYNCS", "FDSYNCS", "RENAME_SOURCES")


class Operations(NamedTuple):
    data: int  # calls that read or write
    metadata: int  # calls that open, close, ask for, sync or rename a file

    def plus(self, other: Operations) -> Operations:
        return Operations(self.data + other.data, self.metadata + other.metadata)


def operations(counters: Mapping[str, int], prefix: str) -> Operations:
    """Of one record, whose counters begin with ``prefix``. MPI-IO's have other names:
    POSIX has them."""

    def count(names: tuple[str, ...]) -> int:
        return sum(max(0, counters.get(f"{prefix}_{name}", 0)) for name in names)

    return Operations(count(_DATA), 2 * count(_OPENS) + count(_OTHERS))
