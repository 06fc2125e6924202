"""Jobs that worked on the PFS for want of room on their tier, as launch has noted."""

from __future__ import annotations

from pathlib import Path

import orjson

from pegasus_bb.model.run import Elsewhere, Problem

_LIMIT = 1 << 20  # bytes; a real note has some 300


def elsewhere(folder: Path) -> tuple[tuple[Elsewhere, ...], tuple[Problem, ...]]:
    """Of the run in submit directory ``folder``, by node. A note that cannot be read
    costs its words, and is listed: that it is there says enough."""
    found: list[Elsewhere] = []
    problems: list[Problem] = []
    for path in sorted((folder / "bb" / "elsewhere").glob("*.json")):
        try:
            found.append(_read(path))
        except (OSError, ValueError, TypeError, KeyError) as error:
            why = str(error).splitlines()[0]
            problems.append(Problem(str(path), f"no note of launch's: {why}"))
            found.append(Elsewhere(path.stem, "launch's note of it cannot be read"))
    return tuple(found), tuple(problems)


def rooms(folder: Path) -> int:
    """How many jobs were to have a place of their own on a tier."""
    files = (folder / "bb" / "nodes").glob("*.json")
    return sum(1 for file in files if b'"reservation"' in file.read_bytes())


def _read(path: Path) -> Elsewhere:
    with path.open("rb") as source:
        said = orjson.loads(source.read(_LIMIT))
    because, host = " ".join(str(said["because"]).split()), str(said["host"])
    return Elsewhere(path.stem, because, host, float(said["time"]))
