"""One line of `pegasus-bb check`: what was looked at, and whether it is as needed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Level(Enum):
    OK = "ok"
    NOTE = "note"  # nothing is wrong, or it cannot be seen from here
    WRONG = "no"  # a run would be refused, or would fail


@dataclass(frozen=True)
class Finding:
    level: Level
    about: str  # workflow | capacity | catalogs | tier | slurm | ...
    what: str
    would_do: str = ""


def ok(about: str, what: str) -> Finding:
    return Finding(Level.OK, about, what)


def note(about: str, what: str, would_do: str = "") -> Finding:
    return Finding(Level.NOTE, about, what, would_do)


def wrong(about: str, what: str, would_do: str = "") -> Finding:
    return Finding(Level.WRONG, about, what, would_do)
