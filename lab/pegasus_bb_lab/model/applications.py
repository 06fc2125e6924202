"""Applications that dump at intervals, and the storage to which the dumps are drained.

    applications:
      - {name: CHIMERA checkpoint, size: 160TB, interval: 1h}
    io_share: 0.05         # of an interval, for its dump, if dumps drain at once
    target:                # a group of OSTs that files are striped over
      osts: 4
      stripe: 1MB
      lower: 12            # stripes of one segment
      upper: 1536
      groups: 14           # that share the load; left out: as many as it takes
      aggressive: {a: 0.693, b: 0.163, plateau: 4.0, positioning: 5.5ms}
      conservative: {a: 0.585, b: 1.044, positioning: 2.2ms}

``a``, ``b`` and ``plateau`` are in GB/s (10^9 bytes), as in Table II of Tang et al.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from pegasus_bb.model.document import Document, Entry, load
from pegasus_bb.model.quantities import count, number, seconds, short_time, size, text
from pegasus_bb.model.records import check_mapping, key, read_record, record

AGGRESSIVE = "aggressive"
CONSERVATIVE = "conservative"
STRATEGIES = (AGGRESSIVE, CONSERVATIVE)

_LOWER = 12  # stripes of a segment at least (Tang et al., section IV)
_IO_SHARE = 0.05
_MOST = 10**9  # of anything that is counted; GB/s
_LEAST = 1e-6  # GB/s
_LONGEST = 3650 * 86400  # seconds


@dataclass(frozen=True, slots=True)
class Application:
    """One kind of dump of one application: its checkpoints, or its analysis files."""

    name: str = key(text)
    size: int = key(size())  # bytes of one dump
    # Seconds from one dump to the next.
    interval: float = key(seconds("such as 60s or 1h", _LONGEST))


@dataclass(frozen=True, slots=True)
class _Curve:
    """How fast a target takes segments that one strategy sends."""

    a: float = key(number(0, _MOST))  # GB/s
    b: float = key(number(-_MOST, _MOST))  # GB/s
    # Seconds before a segment.
    positioning: float = key(short_time("positioning time", "such as 5.5ms"), 0.0)
    # GB/s that it never exceeds.
    plateau: float = key(number(_LEAST, _MOST), math.inf)


@dataclass(frozen=True, slots=True)
class _Osts:
    """What the targets of both strategies have in common."""

    osts: int = key(count(_MOST))
    stripe: int = key(size())  # bytes
    lower: int = key(count(_MOST), _LOWER)  # stripes of one segment
    upper: int = key(count(_MOST))  # more stripes make it no faster
    # Targets that share the load; None: as many as it takes.
    groups: int | None = key(count(_MOST), None)
    aggressive: _Curve = key(record(_Curve))
    conservative: _Curve | None = key(record(_Curve), None)


@dataclass(frozen=True, slots=True)
class Target:
    """A group of OSTs, and how fast it takes a segment of so many stripes."""

    osts: int
    stripe: int  # bytes
    lower: int  # stripes of one segment
    upper: int  # more stripes make it no faster
    a: float  # GB/s
    b: float  # GB/s
    positioning: float = 0.0  # seconds before a segment
    plateau: float = math.inf  # GB/s that it never exceeds


@dataclass(frozen=True)
class DrainingInput:
    """What a file says. ``targets`` has the target of each strategy."""

    document: Document
    applications: tuple[Application, ...]
    targets: Mapping[str, Target]
    groups: int | None  # targets that share the load; None: as many as it takes
    io_share: float


def read_draining(path: Path) -> DrainingInput:
    """Raises CatalogError."""
    document = load(path, {})
    entry = document.entry()
    check_mapping(entry, ("applications", "io_share", "target"), ("target",))
    applications = _read_applications(entry)
    osts, targets = _read_target(entry.below("target"))
    share = _IO_SHARE
    if "io_share" in entry.data:
        share = number(1e-4, 1)(entry.below("io_share"))
    return DrainingInput(document, applications, targets, osts.groups, share)


def read_targets(entry: Entry) -> dict[str, Target]:
    """The target at ``entry``, for each strategy that it has. Raises CatalogError."""
    return _read_target(entry)[1]


def _read_target(entry: Entry) -> tuple[_Osts, dict[str, Target]]:
    osts = read_record(_Osts, entry)
    if osts.upper < osts.lower:
        what = f"upper is below lower, which is {osts.lower}"
        raise entry.below("upper").error(what)
    curves = {AGGRESSIVE: osts.aggressive, CONSERVATIVE: osts.conservative}
    return osts, {
        strategy: _target(osts, curve, entry.below(strategy))
        for strategy, curve in curves.items()
        if curve is not None
    }


def _target(osts: _Osts, curve: _Curve, entry: Entry) -> Target:
    if curve.a * math.log(osts.lower / osts.osts) + curve.b < _LEAST:
        what = f"a ln({osts.lower} / {osts.osts}) + b gives no bandwidth"
        raise entry.error(what, would_do="a larger b, fewer osts, or a larger lower")
    return Target(osts.osts, osts.stripe, osts.lower, osts.upper, **asdict(curve))


def _read_applications(entry: Entry) -> tuple[Application, ...]:
    entries = entry.entries("applications", "an application", "name")
    if not entries:
        example = "- {name: GTC, size: 20TB, interval: 1h}"
        raise entry.error("no applications", "", f"applications: [{example[2:]}]")
    found: dict[str, Application] = {}
    for each in entries:
        application = read_record(Application, each)
        if application.name in found:
            raise each.below("name").error("a second application of that name")
        found[application.name] = application
    return tuple(found.values())
