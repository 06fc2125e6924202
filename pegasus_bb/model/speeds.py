"""How fast the storage of a site is: ``x-storage-speeds`` of the site catalog, or a
file of the same form.

    cluster:
      slots: 64                     # jobs that run at the same time
      pfs: {read: 8GB/s, write: 6GB/s, job_read: 400MB/s, latency: 2ms}
      bb: {read: 80GB/s, write: 60GB/s, job_read: 2GB/s, job_write: 1500MB/s}
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pegasus_bb.errors import UsageError
from pegasus_bb.model.document import Document, Key
from pegasus_bb.model.placement import PFS
from pegasus_bb.units import parse_size

KEY = "x-storage-speeds"
_RATES = ("read", "write", "job_read", "job_write")
_LATENCY = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(us|ms|s)")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


@dataclass(frozen=True, slots=True)
class Speed:
    """One place where files live. Bytes per second; seconds."""

    read: float  # of all jobs together
    write: float
    job_read: float  # of one job
    job_write: float
    latency: float = 0.0  # to open one file

    def of_job(self, read: int, written: int, files: int) -> float:
        """Seconds that one job, alone, takes for so many bytes of so many files."""
        moving = read / self.job_read + written / self.job_write
        return moving + files * self.latency

    def of_all(self, read: int, written: int) -> float:
        """Seconds that all jobs together take at least."""
        return read / self.read + written / self.write


@dataclass(frozen=True)
class Speeds:
    """The places of one site, by tier; ``pfs`` is one of them."""

    slots: int  # jobs that run at the same time
    places: Mapping[str, Speed]
    said_by: str  # file and line, for a person

    @property
    def pfs(self) -> Speed:
        """The parallel file system."""
        return self.places[PFS]


def read_speeds(document: Document, root: tuple[Key, ...], site: str) -> Speeds | None:
    """What ``document`` says below ``root`` of ``site``; None where it says nothing.

    Raises CatalogError.
    """
    data: Any = document.data
    for key in root:
        data = data.get(key) if isinstance(data, dict) else None
    if data is None or (isinstance(data, dict) and site not in data):
        return None
    entry = data.get(site) if isinstance(data, dict) else None
    if not isinstance(entry, dict):
        raise document.error(
            "speeds are a mapping of site to places", root, entry, "pfs: {read: ...}"
        )
    at: list[Key] = [*root, site]
    places = {
        str(name): _read_place(document, value, [*at, name])
        for name, value in entry.items()
        if name != "slots"
    }
    if PFS not in places:
        raise document.error(
            "the speed of the PFS is missing, and all is compared with that",
            at,
            would_do="pfs: {read: 8GB/s, write: 6GB/s}",
        )
    line = document.line(at)
    said = f"{document.path}:{line}" if line else str(document.path)
    return Speeds(_slots(document, entry, at), places, said)


def _read_place(document: Document, entry: Any, at: list[Key]) -> Speed:
    if not isinstance(entry, dict):
        raise document.error("a place is a mapping", at, entry, "read: 8GB/s")
    for key in entry:
        if key not in (*_RATES, "latency"):
            close = get_close_matches(str(key), (*_RATES, "latency"), 1)
            word = f"did you mean {close[0]}?" if close else ", ".join(_RATES)
            raise document.error("there is no such speed", [*at, key], key, word)
    for key in ("read", "write"):
        if key not in entry:
            raise document.error(f"a place without {key}", at, "", f"{key}: 8GB/s")
    rates = {k: _rate(document, entry[k], [*at, k]) for k in _RATES if k in entry}
    return Speed(
        read=rates["read"],
        write=rates["write"],
        job_read=min(rates.get("job_read", rates["read"]), rates["read"]),
        job_write=min(rates.get("job_write", rates["write"]), rates["write"]),
        latency=_latency(document, entry.get("latency", "0s"), [*at, "latency"]),
    )


def _rate(document: Document, value: Any, at: list[Key]) -> float:
    try:
        rate = parse_size(str(value).removesuffix("/s").strip())
    except UsageError as error:
        raise document.error(str(error), at, value, "such as 800MB/s") from error
    if rate <= 0:
        raise document.error("a speed above zero is needed", at, value)
    if str(value).strip().isdigit():
        what = "a speed without a unit, which would be bytes per second"
        raise document.error(what, at, value, "such as 800MB/s")
    return float(rate)


def _latency(document: Document, value: Any, at: list[Key]) -> float:
    match = _LATENCY.fullmatch(str(value))
    if match is None:
        raise document.error("not a latency", at, value, "such as 2ms or 150us")
    return float(match[1]) * _SECONDS[match[2]]


def _slots(document: Document, entry: dict[str, Any], at: list[Key]) -> int:
    value = entry.get("slots", 1)
    if type(value) is not int or value < 1:
        raise document.error(
            "slots are how many jobs run at the same time", [*at, "slots"], value, "64"
        )
    return value
