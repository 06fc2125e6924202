"""The speed of a site's storage: ``x-storage-speeds`` of the site catalog, or a file of
the same form.

    cluster:
      slots: 64                     # jobs that run at the same time
      pfs: {read: 8GB/s, write: 6GB/s, job_read: 400MB/s, latency: 2ms, ops: 30000/s}
      bb: {read: 80GB/s, write: 60GB/s, job_read: 2GB/s, job_write: 1500MB/s}
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import parse_size
from pegasus_bb.model.document import Document, Entry, Key
from pegasus_bb.model.placement import PFS
from pegasus_bb.model.quantities import read_short_time

KEY = "x-storage-speeds"
SLOTS = "slots"
_RATES = ("read", "write", "job_read", "job_write")
_OPERATIONS = ("ops", "job_ops")
_COUNT = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?) ?/s")


@dataclass(frozen=True, slots=True)
class Speed:
    """The speed of one place. Bytes and operations per second; seconds.

    An operation is a call whose time does not depend on its bytes: create, open, stat,
    close and remove, and reads or writes of a few bytes.
    """

    read: float  # of all jobs together
    write: float
    job_read: float  # of one job
    job_write: float
    latency: float = 0.0  # to open one file
    ops: float = math.inf  # of all jobs together; infinite if unknown
    job_ops: float = math.inf  # of one job

    def of_job(self, read: int, written: int, files: int) -> float:
        """Seconds of one job, alone, for these bytes and files."""
        moving = read / self.job_read + written / self.job_write
        return moving + files * self.latency

    def of_all(self, read: int, written: int) -> float:
        return read / self.read + written / self.write


@dataclass(frozen=True)
class Speeds:
    slots: int  # jobs that run at the same time
    places: Mapping[str, Speed]
    source: str  # file and line, for a person

    @property
    def pfs(self) -> Speed:
        return self.places[PFS]


def read_speeds(document: Document, root: tuple[Key, ...], site: str) -> Speeds | None:
    """The speeds of ``site`` below ``root`` of ``document``; None if there are none.

    Raises CatalogError.
    """
    data: Any = document.data
    for key in root:
        data = data.get(key) if isinstance(data, dict) else None
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
        str(name): read_speed(entry.below(name)) for name in entry.data if name != SLOTS
    }
    if PFS not in places:
        raise entry.error(
            "the speed of the PFS is missing, and all is compared with that",
            "",
            "pfs: {read: 8GB/s, write: 6GB/s}",
        )
    line = document.line(entry.at)
    origin = f"{document.path}:{line}" if line else str(document.path)
    return Speeds(_slots(entry), places, origin)


def read_speed(entry: Entry) -> Speed:
    """The speed of one place. Raises CatalogError."""
    if not isinstance(entry.data, dict):
        raise entry.error("a place is a mapping", would_do="read: 8GB/s")
    entry.check_keys((*_RATES, "latency", *_OPERATIONS), "a speed")
    for key in ("read", "write"):
        if key not in entry.data:
            raise entry.error(f"a place without {key}", "", f"{key}: 8GB/s")
    rates = {key: read_rate(entry.below(key)) for key in _RATES if key in entry.data}
    return Speed(
        read=rates["read"],
        write=rates["write"],
        job_read=min(rates.get("job_read", rates["read"]), rates["read"]),
        job_write=min(rates.get("job_write", rates["write"]), rates["write"]),
        latency=read_short_time(entry, "latency", "latency", "such as 2ms or 150us"),
        ops=_operations(entry, "ops"),
        job_ops=min(_operations(entry, "job_ops"), _operations(entry, "ops")),
    )


def read_rate(entry: Entry) -> float:
    """Bytes per second, above zero. Raises CatalogError."""
    text = str(entry.data).removesuffix("/s").strip()
    try:
        rate = parse_size(text)
    except UsageError as error:
        raise entry.error(str(error), would_do="such as 800MB/s") from error
    if rate <= 0:
        raise entry.error("a speed above zero is needed")
    if text.isdigit():
        what = "a speed without a unit, which would be bytes per second"
        raise entry.error(what, would_do="such as 800MB/s")
    return float(rate)


def _operations(entry: Entry, key: str) -> float:
    if key not in entry.data:
        return math.inf
    match = _COUNT.fullmatch(str(entry.data[key]))
    if match is None or float(match[1]) == 0:
        what = "operations per second are a number above zero"
        raise entry.below(key).error(what, would_do="such as 30000/s")
    return float(match[1])


def _slots(entry: Entry) -> int:
    value = entry.data.get(SLOTS, 1)
    if type(value) is not int or value < 1:
        what = "slots are how many jobs run at the same time"
        raise entry.below(SLOTS).error(what, would_do="64")
    return value
