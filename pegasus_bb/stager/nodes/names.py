"""Slurm's lists of hosts: ``n[1-3,07],login`` are five names."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,254}")
_ENTRY = re.compile(r"(?:[^\[\],]|\[[^\[\]]*\])+")  # a comma in brackets ends none
_PART = re.compile(r"\[([^\[\]]*)\]|([^\[\]]+)")
_RANGE = re.compile("([0-9]{1,18})(?:-([0-9]{1,18}))?")
_MOST = 100_000  # nodes of a job


def expand(text: str) -> list[str]:
    """The names in ``text``, in its order. Raises ValueError."""
    found: list[str] = []
    rest = _ENTRY.sub("", text).strip(",")
    if rest:
        raise ValueError(f"{text[:80]!r} is no list of hosts")
    for entry in _ENTRY.findall(text):
        for name in _names(entry):
            if len(found) >= _MOST or not is_name(name):
                raise ValueError(f"{text[:80]!r} is no list of hosts")
            found.append(name)
    return list(dict.fromkeys(found))


def is_name(text: str) -> bool:
    """Whether ``text`` can be the name of a node, and of a folder."""
    return _NAME.fullmatch(text) is not None


def _names(entry: str) -> Iterator[str]:
    parts = []
    for ranges, plain in _PART.findall(entry):
        parts.append([plain] if plain else list(_numbers(ranges)))
    return ("".join(words) for words in itertools.product(*parts))


def _numbers(ranges: str) -> Iterator[str]:
    """``8-10,012``: 8, 9, 10, 012. The first number of a range has its width."""
    for piece in ranges.split(","):
        match = _RANGE.fullmatch(piece)
        if match is None:
            raise ValueError(f"[{ranges[:80]}] is no list of numbers")
        first = match[1]
        last = match[2] or match[1]
        if not 0 <= int(last) - int(first) < _MOST:
            raise ValueError(f"[{ranges[:80]}] is no list of numbers")
        for number in range(int(first), int(last) + 1):
            yield str(number).zfill(len(first))
