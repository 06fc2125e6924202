"""The ``#BB_LUA`` lines of a job: what it asks of fast storage.

burst_buffer.lua refuses what does not follow these rules when the job is submitted, and
says why. The service reads the same lines again: it does not trust the spool.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Callable

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import parse_size
from pegasus_bb.runtime.stager_client.protocol import Refused

DIRECTIVE = "#BB_LUA"
NODE = "node://"  # below the job's folder on each of its nodes
NAME = re.compile("[A-Za-z][A-Za-z0-9]{2,39}")
_POOL = re.compile("[a-z][a-z0-9_-]{0,31}")
_USER = re.compile("[a-z_][a-z0-9_.-]*")
_PLACE = re.compile("(?:bb://[A-Za-z][A-Za-z0-9]*/|(?!bb:)[a-z][a-z0-9_-]*://|/).+")
# Control characters; a tab is none, except where Slurm reads on to the next blank.
_ODD = re.compile("[\x00-\x08\x0a-\x1f\x7f]|(?:capacity|pool)=[^ ]*\t")
_SHOWN = 80  # characters of a line that is refused
_LONGEST = 4096  # bytes of a place; Linux takes no longer path
_MOST_PERSIST = 100  # lines of a job: the service makes each change durable


# Source and destination, each ``NAME://path``, ``job://path``, ``bb://BUFFER/path`` or
# ``/path``.
PlacePair = tuple[str, str]


class Directives:
    """What all directives of a job ask for."""

    def __init__(self) -> None:
        self.capacity, self.pool = 0, ""  # bytes of the job's own buffer; 0: none
        self.stage_in: list[PlacePair] = []
        self.stage_out: list[PlacePair] = []
        # Persistent buffers that the job makes: name, bytes, pool; empty: the default.
        self.stores: list[tuple[str, int, str]] = []
        self.uses: list[str] = []
        self.deletes: list[str] = []
        # Whether another user may read a buffer, its name, the user.
        self.shares: list[tuple[bool, str, str]] = []

    @property
    def uses_nodes(self) -> bool:
        """Whether the job has a folder on each of its nodes."""
        places = (place for pair in (*self.stage_in, *self.stage_out) for place in pair)
        return any(map(is_on_node, places))


def is_on_node(place: str) -> bool:
    """Tell whether ``place`` is on storage of a node."""
    return place.startswith(NODE)


def parse_directives(lines: Sequence[str]) -> Directives:
    """Return what ``lines`` ask for; lines of another kind are left out.

    Raises Refused with the first mistake.
    """
    found = Directives()
    ours = (line for line in lines if line.startswith(DIRECTIVE))
    for number, line in enumerate(ours, 1):
        try:
            _read(found, line)
        except (LookupError, ValueError, UsageError):
            why = f"directive {number}, {line[:_SHOWN]!r}: no job may ask for that"
            raise Refused("bad-directive", why) from None
    return found


def _read(found: Directives, line: str) -> None:
    """Add ``line`` to ``found``. Raises LookupError, ValueError, UsageError."""
    every = re.split("[ \t]+", line[len(DIRECTIVE) :].strip(" \t"))
    verb, *words = takewhile(lambda word: not word.startswith("#"), every)
    _check(not _ODD.search(line))
    _check(verb == "jobbb" or "capacity=" not in line)  # Slurm would count it
    _VERBS[verb](found, words)


def _check(good: object) -> None:
    if not good:
        raise ValueError


def _job_buffer(found: Directives, words: list[str]) -> None:
    given = _options(words, "capacity", "pool")
    _check(not found.capacity and _POOL.fullmatch(given["pool"]))
    found.capacity, found.pool = _size(given["capacity"]), given["pool"]


def _stage_in(found: Directives, words: list[str]) -> None:
    found.stage_in.append(_pair(words, of_node=1))


def _stage_out(found: Directives, words: list[str]) -> None:
    found.stage_out.append(_pair(words, of_node=0))


def _pair(words: list[str], of_node: int) -> PlacePair:
    """Source and destination; only the one with the number ``of_node`` may be on a
    node."""
    source, dest = words
    for number, place in enumerate(words):
        _check(_PLACE.fullmatch(place) and len(os.fsencode(place)) <= _LONGEST)
        _check(".." not in place.split("/"))
        if is_on_node(place):
            _check(number == of_node and place[len(NODE) :].strip("/."))
    return source, dest


def _persist(found: Directives, words: list[str]) -> None:
    kind, name, *rest = words
    lines = [*found.stores, *found.uses, *found.deletes, *found.shares]
    _check(NAME.fullmatch(name) and len(lines) < _MOST_PERSIST)
    if kind == "store":
        given = _options(rest, "size", "pool")
        pool = given.get("pool", "")
        _check(not pool or _POOL.fullmatch(pool))
        found.stores.append((name, _size(given["size"]), pool))
    elif kind in ("use", "delete"):
        _check(not rest)
        (found.uses if kind == "use" else found.deletes).append(name)
    else:
        [user] = rest
        _check(kind in ("share", "unshare") and _USER.fullmatch(user))
        found.shares.append((kind == "share", name, user))


def _options(words: Sequence[str], *keys: str) -> dict[str, str]:
    """Return the key=value words, each of ``keys`` at most once."""
    found = dict(word.split("=", 1) for word in words)
    _check(len(found) == len(words) and found.keys() <= {*keys})
    return found


def _size(text: str) -> int:
    size = parse_size(text)
    _check(size)
    return size


_VERBS: dict[str, Callable[[Directives, list[str]], None]] = {
    "jobbb": _job_buffer,
    "stage_in": _stage_in,
    "stage_out": _stage_out,
    "persist": _persist,
}
