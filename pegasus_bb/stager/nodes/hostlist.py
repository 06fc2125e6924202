"""Slurm's hostlists: ``n[1-3,07],login`` are five names."""

from __future__ import annotations

import re
from collections.abc import Iterator

_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,254}")
_BETWEEN = re.compile(r",(?![^\[]*\])")  # a comma in brackets ends no entry
_ENTRY = re.compile(r"(.*?)\[([0-9,-]+)\](.*)")


def expand(text: str) -> list[str]:
    """The names in ``text``, in its order. Raises ValueError."""
    found = [
        name for entry in filter(None, _BETWEEN.split(text)) for name in _names(entry)
    ]
    if not all(map(is_name, found)):
        raise ValueError(f"{text[:80]!r} is no list of hosts")
    return list(dict.fromkeys(found))


def is_name(text: str) -> bool:
    """Whether ``text`` can be the name of a node, and of a folder."""
    return _NAME.fullmatch(text) is not None


def _names(entry: str) -> list[str]:
    parts = _ENTRY.fullmatch(entry)
    if parts is None:
        return [entry]
    rest = _names(parts[3])
    return [parts[1] + number + each for number in _numbers(parts[2]) for each in rest]


def _numbers(ranges: str) -> Iterator[str]:
    """``8-10,012``: 8, 9, 10, 012. The first number of a range has its width."""
    for piece in ranges.split(","):
        first, _, last = piece.partition("-")
        for number in range(int(first), int(last or first) + 1):
            yield str(number).zfill(len(first))
