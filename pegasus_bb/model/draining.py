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
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.errors import UsageError
from pegasus_bb.model.document import Document, Entry, load
from pegasus_bb.units import parse_duration

AGGRESSIVE, CONSERVATIVE = "aggressive", "conservative"
STRATEGIES = (AGGRESSIVE, CONSERVATIVE)

_LOWER = 12  # stripes of a segment at least (Tang et al., section IV)
_IO_SHARE = 0.05
_COUNTS = ("osts", "lower", "upper", "groups")
_MOST = 10**9  # of anything that is counted; GB/s
_LEAST = 1e-6  # GB/s
_LONGEST = 10 * 365 * 86400  # seconds
_POSITIONING = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?(us|ms|s)")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


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
    entry = Entry(document, (), document.data)
    entry.check_keys(("applications", "io_share", "target"), "a draining")
    applications = _read_applications(entry)
    target = entry.below("target")
    targets = read_targets(target)
    share = _number(entry, "io_share", _IO_SHARE, 1e-4, 1.0)
    groups = _count(target, "groups") if "groups" in target.data else None
    return DrainingInput(document, applications, targets, groups, share)


def read_targets(entry: Entry) -> dict[str, Target]:
    """The target at ``entry``, for each strategy that it has. Raises CatalogError."""
    if not isinstance(entry.data, dict):
        example = "target: {osts: 4, stripe: 1MB, upper: 1536, aggressive: ...}"
        raise entry.error("a target is a mapping", would_do=example)
    entry.check_keys((*_COUNTS, "stripe", *STRATEGIES), "a target")
    if AGGRESSIVE not in entry.data:
        example = f"{AGGRESSIVE}: {{a: 0.693, b: 0.163, positioning: 5.5ms}}"
        raise entry.error(f"a target without {AGGRESSIVE}", "", example)
    found = (strategy for strategy in STRATEGIES if strategy in entry.data)
    return {strategy: _read_target(entry, strategy) for strategy in found}


def _read_target(entry: Entry, strategy: str) -> Target:
    curve = entry.below(strategy)
    if not isinstance(curve.data, dict):
        raise curve.error("a strategy is a mapping", would_do="{a: 0.693, b: 0.163}")
    curve.check_keys(("a", "b", "plateau", "positioning"), "a strategy")
    target = Target(
        osts=_count(entry, "osts"),
        stripe=_size(entry, "stripe"),
        lower=_count(entry, "lower", _LOWER),
        upper=_count(entry, "upper"),
        a=_number(curve, "a", None, 0.0, _MOST),
        b=_number(curve, "b", None, -_MOST, _MOST),
        positioning=_positioning(curve),
        plateau=_number(curve, "plateau", math.inf, _LEAST, _MOST),
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
        each.check_keys(("name", "size", "interval"), "an application")
        name = str(each.data["name"])
        if name in found:
            raise each.below("name").error("a second application of that name")
        found[name] = Application(name, _size(each, "size"), _interval(each))
    return tuple(found.values())


def _size(entry: Entry, key: str) -> int:
    at = _present(entry, key, "1MB")
    size = at.size()
    if size < 1:
        raise at.error(f"{key} is above zero", would_do="such as 1MB or 20TB")
    return size


def _interval(entry: Entry) -> float:
    at = _present(entry, "interval", "1h")
    try:
        seconds = parse_duration(at.data)
    except UsageError as error:
        raise at.error(str(error)) from error
    if not 0 < seconds <= _LONGEST:
        what = "an interval is above zero and at most ten years"
        raise at.error(what, would_do="such as 60s or 1h")
    return float(seconds)


def _count(entry: Entry, key: str, default: int | None = None) -> int:
    if default is not None and key not in entry.data:
        return default
    at = _present(entry, key, "4")
    if type(at.data) is not int or not 0 < at.data <= _MOST:
        raise at.error(f"{key} is a whole number from 1 to {_MOST}")
    return at.data


def _number(
    entry: Entry, key: str, default: float | None, least: float, most: float
) -> float:
    if default is not None and key not in entry.data:
        return default
    at = _present(entry, key, "0.5")
    value = at.data
    if type(value) not in (int, float) or not least <= value <= most:
        raise at.error(f"{key} is a number from {least:g} to {most:g}")
    return float(value)


def _positioning(entry: Entry) -> float:
    text = str(entry.data.get("positioning", "0s"))
    match = _POSITIONING.fullmatch(text)
    if match is None:
        at = entry.below("positioning")
        raise at.error("not a positioning time", would_do="such as 5.5ms")
    return float(match[1]) * _SECONDS[match[2]]


def _present(entry: Entry, key: str, example: str) -> Entry:
    if entry.data.get(key) is None:
        raise entry.error(f"{key} is missing", "", f"{key}: {example}")
    return entry.below(key)
