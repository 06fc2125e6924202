"""Every ``pegasus.bb.*`` property, typed; options and -D arrive here as properties."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pegasus_bb.errors import UsageError
from pegasus_bb.model.properties import Properties
from pegasus_bb.units import parse_duration, parse_size

PREFIX = "pegasus.bb."
MODES = ("off", "persistent", "transient", "hybrid", "auto")
PLANNERS = ("auto", "builtin", "pegasus")
AUTO = 0  # a capacity from the sizes of the files, whatever the tier says


@dataclass(frozen=True)
class Settings:
    """What the user said of burst buffers, apart from the tiers themselves."""

    mode: str = "off"  # one of MODES; auto: what the cost model prefers
    planner: str = "auto"  # builtin | pegasus | auto: pegasus where there is one
    tier: str = ""  # a tier's name; empty: the site's first
    rooms: str = ""  # of jobs' rooms in mode hybrid; empty: a node-local one, else tier
    capacity: int | None = None  # bytes; AUTO; None: what the tier says
    placement: Path | None = None  # a placement file, glob patterns over LFNs
    wait: int = 86400  # seconds that the gate, or a job's results, are waited for
    poll: int = 10  # seconds between two polls of either
    headroom: int = 10  # per cent added to an automatic capacity
    name: str = "pbb"  # what the reservation's name begins with
    python: str = ""  # the Python of compute nodes; empty: the system's own
    counters: str = "on"  # off: no I/O counters beside a plain pegasus-plan's records
    speeds: Path | None = None  # how fast storage is, in place of the site catalog
    history: Path | None = None  # an earlier run's submit directory, to learn from
    fallback: str = "fail"  # pfs: where the reservation cannot be used, run on the PFS
    guard: str = "stat"  # stat: trust what transfer verified | digest: read all again

    @property
    def falls_back(self) -> bool:
        """Whether a run without its reservation goes on on the PFS: that can be where
        all jobs have one and nothing else, in mode persistent."""
        return self.fallback == "pfs" and self.mode == "persistent"


def read_settings(properties: Properties, cwd: Path) -> Settings:
    """Raises CatalogError: unknown property, value that cannot be read."""
    known = {field.name for field in fields(Settings)}
    values: dict[str, Any] = {}
    for key in properties:
        if not key.startswith(PREFIX):
            continue
        name = key[len(PREFIX) :]
        if name not in known:
            close = get_close_matches(name, known, 1)
            raise properties.error(
                key,
                "there is no such setting",
                f"did you mean {PREFIX}{close[0]}?"
                if close
                else "one of " + ", ".join(sorted(PREFIX + k for k in known)),
            )
        try:
            values[name] = _READERS[name](properties[key])
        except UsageError as error:
            raise properties.error(key, str(error)) from error
    for name in ("placement", "speeds", "history"):
        if values.get(name):
            values[name] = cwd / values[name]
    return Settings(**values)


def _choice(*allowed: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in allowed:
            raise UsageError(f"{text!r} is not one of {', '.join(allowed)}")
        return text

    return read


def _capacity(text: str) -> int:
    if text == "auto":
        return AUTO
    size = parse_size(text)
    if size <= 0:
        raise UsageError(f"{text!r}: a capacity above zero is needed, or auto")
    return size


def _between(lowest: int, highest: int, read: Callable[[str], int]) -> Any:
    def checked(text: str) -> int:
        value = read(text)
        if not lowest <= value <= highest:
            raise UsageError(f"{text!r} is not between {lowest} and {highest}")
        return value

    return checked


def _whole(text: str) -> int:
    if re.fullmatch("[+-]?[0-9]{1,18}", text) is None:
        raise UsageError(f"{text!r} is not a whole number")
    return int(text)


def _name(text: str) -> str:
    if not (text.isascii() and text.isalnum() and text[0].isalpha() and len(text) < 21):
        raise UsageError(
            f"{text!r}: a reservation's name begins with a letter and has at most 20 "
            "letters and digits"
        )
    return text


def _program(text: str) -> str:
    if any(ord(c) < 32 for c in text):
        raise UsageError("a path with a control character")
    return text


_READERS: Mapping[str, Callable[[str], Any]] = {
    "mode": _choice(*MODES),
    "planner": _choice(*PLANNERS),
    "tier": str,
    "rooms": str,
    "capacity": _capacity,
    "placement": Path,
    "speeds": Path,
    "history": Path,
    "wait": _between(0, 366 * 86400, parse_duration),
    "poll": _between(1, 3600, parse_duration),
    "headroom": _between(0, 1000, _whole),
    "name": _name,
    "python": _program,
    "counters": _choice("on", "off"),
    "fallback": _choice("fail", "pfs"),
    "guard": _choice("stat", "digest"),
}
