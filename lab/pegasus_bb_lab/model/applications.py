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
from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.model.document import Document, Entry, load
from pegasus_bb.model.quantities import (
    check_mapping,
    read_count,
    read_number,
    read_seconds,
    read_short_time,
    read_size,
)

AGGRESSIVE = "aggressive"
CONSERVATIVE = "conservative"
STRATEGIES = (AGGRESSIVE, CONSERVATIVE)

_LOWER = 12  # stripes of a segment at least (Tang et al., section IV)
_IO_SHARE = 0.05
_TARGET = ("osts", "stripe", "lower", "upper", "groups", *STRATEGIES)
_STRATEGY = ("a", "b", "plateau", "positioning")
_APPLICATION = ("name", "size", "interval")
_MOST = 10**9  # of anything that is counted; GB/s
_LEAST = 1e-6  # GB/s
_LONGEST = 3650 * 86400  # seconds


@dataclass(frozen=True, slots=True)
class Application:
    """One kind of dump of one application: its checkpoints, or its analysis files."""

    name: str
    size: int  # bytes of one dump
    interval: float  # seconds from one dump to the next


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
    target = entry.below("target")
    targets = read_targets(target)
    share = read_number(entry, "io_share", 1e-4, 1, _IO_SHARE)
    has_groups = "groups" in target.data
    groups = read_count(target, "groups", most=_MOST) if has_groups else None
    return DrainingInput(document, applications, targets, groups, share)


def read_targets(entry: Entry) -> dict[str, Target]:
    """The target at ``entry``, for each strategy that it has. Raises CatalogError."""
    check_mapping(entry, _TARGET, ("osts", "stripe", "upper", AGGRESSIVE))
    found = (strategy for strategy in STRATEGIES if strategy in entry.data)
    return {strategy: _read_target(entry, strategy) for strategy in found}


def _read_target(entry: Entry, strategy: str) -> Target:
    curve = entry.below(strategy)
    check_mapping(curve, _STRATEGY, ("a", "b"))
    target = Target(
        osts=read_count(entry, "osts", most=_MOST),
        stripe=read_size(entry, "stripe"),
        lower=read_count(entry, "lower", _LOWER, _MOST),
        upper=read_count(entry, "upper", most=_MOST),
        a=read_number(curve, "a", 0, _MOST),
        b=read_number(curve, "b", -_MOST, _MOST),
        positioning=read_short_time(
            curve, "positioning", "positioning time", "such as 5.5ms"
        ),
        plateau=read_number(curve, "plateau", _LEAST, _MOST, math.inf),
    )
    if target.upper < target.lower:
        what = f"upper is below lower, which is {target.lower}"
        raise entry.below("upper").error(what)
    if target.a * math.log(target.lower / target.osts) + target.b < _LEAST:
        what = f"a ln({target.lower} / {target.osts}) + b gives no bandwidth"
        raise curve.error(what, would_do="a larger b, fewer osts, or a larger lower")
    return target


def _read_applications(entry: Entry) -> tuple[Application, ...]:
    entries = entry.entries("applications", "an application", "name")
    if not entries:
        example = "- {name: GTC, size: 20TB, interval: 1h}"
        raise entry.error("no applications", "", f"applications: [{example[2:]}]")
    found: dict[str, Application] = {}
    for each in entries:
        check_mapping(each, _APPLICATION, _APPLICATION)
        name = str(each.data["name"])
        if name in found:
            raise each.below("name").error("a second application of that name")
        interval = read_seconds(each, "interval", "such as 60s or 1h", _LONGEST)
        found[name] = Application(name, read_size(each, "size"), interval)
    return tuple(found.values())
