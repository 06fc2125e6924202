"""The speed of a site's storage: ``x-storage-speeds`` of the site catalog, or a file of
the same form.

    cluster:
      slots: 64                     # jobs that run at the same time
      remote: {read: 100MB/s, write: 100MB/s}       # what comes from other sites
      pfs: {read: 8GB/s, write: 6GB/s, job_read: 400MB/s, latency: 2ms, ops: 30000/s}
      bb: {read: 80GB/s, write: 60GB/s, job_read: 2GB/s, job_write: 1500MB/s}
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from pegasus_bb.model.document import Document, Entry, Key
from pegasus_bb.model.history import Startup
from pegasus_bb.model.placement import PFS
from pegasus_bb.model.quantities import (
    choice,
    count,
    flag,
    number,
    percent,
    rate,
    short_time,
)
from pegasus_bb.model.records import check_mapping, key, read_record

SLOTS = "slots"
_STARTUP = "startup"
REMOTE = "remote"  # the place of files of other sites
_SLOW = (PFS, REMOTE)  # the faster they are, the less a tier gains
_COUNT = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?) ?/s")


def _operations(entry: Entry) -> float:
    match = _COUNT.fullmatch(str(entry.data))
    if match is None or float(match[1]) == 0:
        what = "operations per second are a number above zero"
        raise entry.error(what, would_do="such as 30000/s")
    return float(match[1])


_latency = short_time("latency", "such as 2ms or 150us")

BYTES = "bytes"
CALLS = "calls"
_NOT_MEASURED = {  # what of a speed was not -> its keys, and what they are without
    BYTES: (("read", "write", "job_read", "job_write"), 1e15),
    CALLS: (("ops", "job_ops"), math.inf),
}


def _sizes(entry: Entry) -> tuple[int, int]:
    found = entry.data
    if not isinstance(found, list) or len(found) != 2:
        raise entry.error(f"{entry.key} are two sizes", would_do="[20KB, 3MB]")
    least, most = entry.below(0).size(), entry.below(1).size()
    if not 0 < least <= most:
        raise entry.error(f"{entry.key} are above zero, and the smaller one is first")
    return least, most


@dataclass(frozen=True, slots=True)
class Speed:
    """The speed of one place. Bytes and operations per second; seconds.

    An operation is a call whose time does not depend on its bytes: create, open, stat,
    close and remove, and reads or writes of a few bytes.
    """

    read: float = key(rate)  # of all jobs together
    write: float = key(rate)
    job_read: float = key(rate, math.inf)  # of one job
    job_write: float = key(rate, math.inf)
    latency: float = key(_latency, 0.0, default=0.0)  # to open one file
    # Of all jobs together; infinite if unknown.
    ops: float = key(_operations, math.inf, default=math.inf)
    job_ops: float = key(_operations, math.inf, default=math.inf)  # of one job
    # Of bytes a second that each granule of a reservation brings, up to ``read``.
    per_granule: float = key(rate, math.inf, default=math.inf)
    # Whether the rates of one job are those of one of its nodes.
    per_node: bool = key(flag, absent=False, default=False)
    # By how much all rates of the place may be missed, as a part of them.
    error: float = key(percent(number(0, 90)), 0.0, name="error_percent", default=0.0)
    # What of it was not measured, bytes or calls: these rates are the least.
    at_least: str = key(choice(*_NOT_MEASURED), "", default="")
    # Of one task: the least and the most, of those that the rates were learned from.
    task_bytes: tuple[int, int] | None = key(_sizes, None, default=None)
    least: tuple[tuple[str, float], ...] = ()  # these rates, and none are above

    @property
    def slowest(self) -> Speed:
        """The place with the least rates for those that were not measured."""
        rates: dict[str, Any] = dict(self.least)
        return replace(self, **rates, least=()) if rates else self

    def reserved(self, granules: int) -> Speed:
        """The place as a reservation of so many granules has it."""
        most = self.per_granule * max(1, granules)
        return replace(
            self,
            read=min(self.read, most),
            write=min(self.write, most),
            job_read=min(self.job_read, most),
            job_write=min(self.job_write, most),
        )

    def times(self, factor: float) -> Speed:
        """The place if it were ``factor`` times as fast."""
        return replace(
            self,
            read=self.read * factor,
            write=self.write * factor,
            job_read=self.job_read * factor,
            job_write=self.job_write * factor,
            latency=self.latency / factor,
            ops=self.ops * factor,
            job_ops=self.job_ops * factor,
            per_granule=self.per_granule * factor,
        )

    def of_job(self, read: int, written: int, files: int, nodes: int = 1) -> float:
        """Seconds of one job on ``nodes``, alone, for these bytes and files."""
        moving = read / self.job_read + written / self.job_write
        return moving / (nodes if self.per_node else 1) + files * self.latency

    def of_all(self, read: int, written: int) -> float:
        return read / self.read + written / self.write


@dataclass(frozen=True)
class Speeds:
    slots: int  # jobs that run at the same time
    places: Mapping[str, Speed]
    source: str  # file and line, for a person
    states_slots: bool = True  # False: ``slots`` is 1 because the file has none
    startup: Startup | None = None  # what the engine adds to a job; None: not declared

    @property
    def is_known(self) -> bool:
        """Whether no place has an error, or a rate that was not measured."""
        return not any(speed.error or speed.least for speed in self.places.values())

    @property
    def pessimistic(self) -> Speeds:
        """The speeds within their errors by which tiers gain the least."""
        return self._within_errors(of_tiers=-1)

    @property
    def optimistic(self) -> Speeds:
        """And the most."""
        return self._within_errors(of_tiers=1)

    def _within_errors(self, of_tiers: int) -> Speeds:
        if self.is_known:
            return self
        places = dict(self.places)
        for name, speed in places.items():
            sign = -of_tiers if name in _SLOW else of_tiers
            end = speed.slowest if sign < 0 else speed
            places[name] = end.times((1 + speed.error) ** sign)
        return replace(self, places=places)

    @property
    def pfs(self) -> Speed:
        return self.places[PFS]


def read_speeds(document: Document, root: tuple[Key, ...], site: str) -> Speeds | None:
    """The speeds of ``site`` below ``root`` of ``document``; None if there are none.

    Raises CatalogError.
    """
    data: Any = document.data
    for each in root:
        data = data.get(each) if isinstance(data, dict) else None
    if data is None or (isinstance(data, dict) and site not in data):
        return None
    if not isinstance(data, dict) or not isinstance(data[site], dict):
        is_of_site = isinstance(data, dict)
        raise document.error(
            "speeds are a mapping of site to places",
            (*root, site) if is_of_site else root,
            data[site] if is_of_site else data,
            "pfs: {read: ...}",
        )
    entry = document.entry(*root, site)
    places = {
        str(name): read_speed(entry.below(name))
        for name in entry.data
        if name not in (SLOTS, _STARTUP)
    }
    if PFS not in places:
        raise entry.error(
            "the speed of the PFS is missing, and all is compared with that",
            "",
            "pfs: {read: 8GB/s, write: 6GB/s}",
        )
    origin = document.place(entry.at)
    states_slots = SLOTS in entry.data
    slots = count()(entry.below(SLOTS)) if states_slots else 1
    startup = _startup(entry.below(_STARTUP)) if _STARTUP in entry.data else None
    return Speeds(slots, places, origin, states_slots, startup)


def _startup(entry: Entry) -> Startup:
    """Raises CatalogError."""
    check_mapping(entry, [field.name for field in fields(Startup)], ())
    read = short_time("time", "such as 2s or 300ms")
    return Startup(**{name: read(entry.below(name)) for name in entry.data})


def read_speed(entry: Entry) -> Speed:
    """The speed of one place. Raises CatalogError."""
    found = read_record(Speed, entry)
    found = replace(
        found,
        job_read=min(found.job_read, found.read),
        job_write=min(found.job_write, found.write),
        job_ops=min(found.job_ops, found.ops),
    )
    if not found.at_least:
        return found
    names, none = _NOT_MEASURED[found.at_least]
    least = tuple((name, getattr(found, name)) for name in names)
    unlimited: dict[str, Any] = dict.fromkeys(names, none)
    return replace(found, **unlimited, least=least)
