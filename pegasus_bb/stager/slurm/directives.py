"""The ``#BB_LUA`` lines of a job: what it asks of fast storage.

burst_buffer.lua refuses what does not follow these rules when the job is submitted; the
service reads the same lines again, because it does not believe what it is told.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import parse_size
from pegasus_bb.runtime.stager_client.protocol import Refused

DIRECTIVE = "#BB_LUA"
NODE = "node://"  # below the job's folder on each of its nodes
NAME = re.compile("[A-Za-z][A-Za-z0-9]{2,39}")
_POOL = re.compile("[a-z][a-z0-9_-]{0,31}")
_USER = re.compile("[a-z_][a-z0-9_.-]*")
_PLACE = re.compile("(?:[a-z][a-z0-9_-]*:/)?/(.+)")
_BUFFER_PLACE = re.compile("bb://[A-Za-z][A-Za-z0-9]*/.+")
_SHOWN = 80  # characters of a line that is refused
_CONTROL = re.compile("[\x00-\x1f\x7f]")
_TAB_IN_VALUE = re.compile("(?:capacity|pool)=[^ ]*\t")
_LONGEST = 4096  # bytes of a place; Linux takes no longer path
_MOST_PERSIST = 100  # lines of a job: the service makes each change durable


class CopyDirective(NamedTuple):
    """Each is ``NAME://path``, ``job://path``, ``bb://BUFFER/path`` or ``/path``."""

    source: str
    dest: str


class StoreDirective(NamedTuple):
    """A persistent buffer that the job makes."""

    name: str
    size: int  # bytes
    pool: str  # empty: the default


class Share(NamedTuple):
    """Another user may read a buffer, or may no more."""

    allowed: bool
    name: str
    user: str


class Directives:
    """All of a job."""

    def __init__(self) -> None:
        self.capacity, self.pool = 0, ""  # bytes of the job's own buffer; 0: none
        self.stage_in: list[CopyDirective] = []
        self.stage_out: list[CopyDirective] = []
        self.stores: list[StoreDirective] = []
        self.uses: list[str] = []
        self.deletes: list[str] = []
        self.shares: list[Share] = []

    @property
    def has_most_persist(self) -> bool:
        """Whether no more ``persist`` line is taken."""
        lines = [*self.stores, *self.uses, *self.deletes, *self.shares]
        return len(lines) >= _MOST_PERSIST

    @property
    def wants_more(self) -> bool:
        """Whether the end of the job asks for more than its teardown."""
        return bool(self.stage_out or self.deletes or self.shares)

    @property
    def uses_nodes(self) -> bool:
        """Whether the job has a folder on each of its nodes."""
        return any(is_on_node(copy.dest) for copy in self.stage_in) or any(
            is_on_node(copy.source) for copy in self.stage_out
        )


def is_on_node(place: str) -> bool:
    """Whether ``place`` is on storage of a node."""
    return place.startswith(NODE)


def parse_directives(lines: Sequence[str]) -> Directives:
    """What ``lines`` ask for; lines of another kind are left out.

    Raises Refused with the first mistake.
    """
    found = Directives()
    number = 0
    for line in lines:
        if line.startswith(DIRECTIVE):
            number += 1
            why = _read(found, line)
            if why:
                shown = _CONTROL.sub(" ", line[:_SHOWN])
                shown += " [...]" * (len(line) > _SHOWN)
                raise Refused("bad-directive", f"directive {number}, {shown}: {why}")
    return found


def _read(found: Directives, line: str) -> str | None:
    """Adds ``line`` to ``found``; else the mistake in it."""
    odd = _odd_character(line)
    if odd:
        return odd
    words = _words(line)
    verb = words[0] if words else ""
    if verb != "jobbb" and "capacity=" in line:
        return "Slurm would count 'capacity=' as a buffer of the job"
    if verb == "jobbb":
        return _job_buffer(found, words)
    if verb in ("stage_in", "stage_out"):
        return _copy(found, words)
    if verb == "persist":
        return _persist(found, words[1:])
    return f"write: {DIRECTIVE} jobbb, stage_in, stage_out or persist"


def _odd_character(line: str) -> str | None:
    """Why a character of ``line`` cannot stand there. A tab is a blank, except where
    Slurm reads on to the next blank."""
    found = _CONTROL.search(line.replace("\t", " "))
    if found and found[0] == "\r":
        return "it has a carriage return, as files of Windows do: dos2unix removes it"
    if found:
        return f"it has the control character 0x{ord(found[0]):02x}"
    if _TAB_IN_VALUE.search(line):
        return "it has a tab behind capacity= or pool=, where Slurm takes blanks only"
    return None


def _words(line: str) -> list[str]:
    """The words up to a comment."""
    words = re.split("[ \t]+", line[len(DIRECTIVE) :].strip(" \t"))
    return list(takewhile(lambda word: word and not word.startswith("#"), words))


def _job_buffer(found: Directives, words: list[str]) -> str | None:
    if found.capacity:
        return "a job has one jobbb line"
    given = _options(words[1:])
    found.capacity = _size(given.get("capacity", ""))
    found.pool = given.get("pool", "")
    if len(words) != 3 or not found.capacity or not _POOL.fullmatch(found.pool):
        return (
            f"write: {DIRECTIVE} jobbb capacity=100GiB pool=NAME; a size is a whole "
            "number with a unit"
        )
    return None


def _copy(found: Directives, words: list[str]) -> str | None:
    if len(words) != 3 or not (_is_place(words[1]) and _is_place(words[2])):
        return (
            f"write: {DIRECTIVE} {words[0]} SOURCE DEST, each as NAME://path or /path, "
            "without blanks and without '..', of 4096 bytes at most"
        )
    here, there = words[1:] if words[0] == "stage_in" else reversed(words[1:])
    if is_on_node(here) or (is_on_node(there) and not there[len(NODE) :].strip("/.")):
        return f"{NODE}PATH is the DEST of a stage_in or the SOURCE of a stage_out"
    copies = found.stage_in if words[0] == "stage_in" else found.stage_out
    copies.append(CopyDirective(words[1], words[2]))
    return None


def _persist(found: Directives, words: list[str]) -> str | None:
    verb, rest = (words[0], words[1:]) if words else ("", [])
    name = rest[0] if rest and NAME.fullmatch(rest[0]) else ""
    if found.has_most_persist:
        return f"a job has at most {_MOST_PERSIST} persist lines"
    if verb == "store":
        given = _options(rest[1:])
        size = _size(given.get("size", ""))
        pool = given.get("pool", "")
        known = 1 + len(given) == len(rest) and not set(given) - {"size", "pool"}
        if not (name and size and known and (not pool or _POOL.fullmatch(pool))):
            return (
                f"write: {DIRECTIVE} persist store NAME size=100GiB [pool=NAME]; a "
                "size is a whole number with a unit, a name is 3 to 40 letters and "
                "digits"
            )
        found.stores.append(StoreDirective(name, size, pool))
    elif verb in ("use", "delete"):
        if not name or len(rest) != 1:
            return (
                f"write: {DIRECTIVE} persist {verb} NAME; a name is 3 to 40 letters "
                "and digits"
            )
        (found.uses if verb == "use" else found.deletes).append(name)
    elif verb in ("share", "unshare"):
        if not name or len(rest) != 2 or not _USER.fullmatch(rest[1]):
            return f"write: {DIRECTIVE} persist {verb} NAME USER"
        found.shares.append(Share(verb == "share", name, rest[1]))
    else:
        return f"write: {DIRECTIVE} persist store, use, delete, share or unshare"
    return None


def _options(words: Sequence[str]) -> dict[str, str]:
    """The key=value words, each key once; a word of another kind is missing then."""
    found: dict[str, str] = {}
    for word in words:
        key, sign, value = word.partition("=")
        if sign and value and key not in found:
            found[key] = value
    return found


def _size(text: str) -> int:
    try:
        return parse_size(text)
    except UsageError:
        return 0


def _is_place(word: str) -> bool:
    match = _PLACE.fullmatch(word)
    if match is None or ".." in match[1].split("/"):
        return False
    if len(os.fsencode(word)) > _LONGEST:
        return False
    return not word.startswith("bb:") or _BUFFER_PLACE.fullmatch(word) is not None
