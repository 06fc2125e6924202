"""The ``#BB_LUA`` lines of a job: what it asks of fast storage.

burst_buffer.lua refuses what does not follow these rules when the job is submitted; the
service reads the same lines again, because it does not trust the spool.
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
_A_SIZE = "a size is a whole number with a unit"
_A_NAME = "a name is 3 to 40 letters and digits"
_PERSIST = {
    "store": f"store NAME size=100GiB [pool=NAME]; {_A_SIZE}, {_A_NAME}",
    "use": f"use NAME; {_A_NAME}",
    "delete": f"delete NAME; {_A_NAME}",
    "share": "share NAME USER",
    "unshare": "unshare NAME USER",
}


class CopyDirective(NamedTuple):
    """Each is ``NAME://path``, ``job://path``, ``bb://BUFFER/path`` or ``/path``."""

    source: str
    dest: str


class StoreDirective(NamedTuple):
    """A persistent buffer that the job makes."""

    name: str
    size: int  # bytes
    pool: str  # empty: the default


class ShareDirective(NamedTuple):
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
        self.shares: list[ShareDirective] = []

    @property
    def wants_more(self) -> bool:
        """Whether the end of the job asks for more than its teardown."""
        return bool(self.stage_out or self.deletes or self.shares)

    @property
    def uses_nodes(self) -> bool:
        """Whether the job has a folder on each of its nodes."""
        ends = [copy.dest for copy in self.stage_in]
        ends += [copy.source for copy in self.stage_out]
        return any(map(is_on_node, ends))


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
        why = _odd_character(line) or _read(found, line)
        if why:
            shown = _CONTROL.sub(" ", line[:_SHOWN]) + " [...]" * (len(line) > _SHOWN)
            raise Refused("bad-directive", f"directive {number}, {shown}: {why}")
    return found


def _odd_character(line: str) -> str:
    """Return why a character of ``line`` cannot stand there. A tab is a blank, except
    where Slurm reads on to the next blank."""
    found = _CONTROL.search(line.replace("\t", " "))
    if found and found[0] == "\r":
        return "it has a carriage return, as files of Windows do: dos2unix removes it"
    if found:
        return f"it has the control character 0x{ord(found[0]):02x}"
    if _TAB_IN_VALUE.search(line):
        return "it has a tab behind capacity= or pool=, where Slurm takes blanks only"
    return ""


def _read(found: Directives, line: str) -> str:
    """Add ``line`` to ``found``; return the mistake in it, if there is one."""
    every = re.split("[ \t]+", line[len(DIRECTIVE) :].strip(" \t"))
    words = list(takewhile(lambda word: word and not word.startswith("#"), every))
    verb = words[0] if words else ""
    if verb == "jobbb":
        return _job_buffer(found, words[1:])
    if "capacity=" in line:
        return "Slurm would count 'capacity=' as a buffer of the job"
    if verb in ("stage_in", "stage_out"):
        return _copy(found, verb, words[1:])
    if verb == "persist":
        return _persist(found, words[1:])
    return f"write: {DIRECTIVE} jobbb, stage_in, stage_out or persist"


def _job_buffer(found: Directives, words: list[str]) -> str:
    if found.capacity:
        return "a job has one jobbb line"
    given = _options(words)
    found.capacity = _size(given.get("capacity", ""))
    found.pool = given.get("pool", "")
    if len(words) == 2 and found.capacity and _POOL.fullmatch(found.pool):
        return ""
    return f"write: {DIRECTIVE} jobbb capacity=100GiB pool=NAME; {_A_SIZE}"


def _copy(found: Directives, verb: str, words: list[str]) -> str:
    if len(words) != 2 or not all(map(_is_place, words)):
        return (
            f"write: {DIRECTIVE} {verb} SOURCE DEST, each as NAME://path or /path, "
            "without blanks and without '..', of 4096 bytes at most"
        )
    copy = CopyDirective(*words)
    is_in = verb == "stage_in"
    here, there = copy if is_in else reversed(copy)
    if is_on_node(here) or (is_on_node(there) and not there[len(NODE) :].strip("/.")):
        return f"{NODE}PATH is the DEST of a stage_in or the SOURCE of a stage_out"
    (found.stage_in if is_in else found.stage_out).append(copy)
    return ""


def _persist(found: Directives, words: list[str]) -> str:
    lines = [*found.stores, *found.uses, *found.deletes, *found.shares]
    if len(lines) >= _MOST_PERSIST:
        return f"a job has at most {_MOST_PERSIST} persist lines"
    verb, name, *rest = [*words, "", ""][: max(2, len(words))]
    if verb not in _PERSIST:
        return f"write: {DIRECTIVE} persist store, use, delete, share or unshare"
    is_good = NAME.fullmatch(name) is not None
    if verb == "store":
        given = _options(rest)
        size = _size(given.get("size", ""))
        pool = given.get("pool", "")
        is_known = len(given) == len(rest) and given.keys() <= {"size", "pool"}
        is_pool = not pool or _POOL.fullmatch(pool) is not None
        is_good = is_good and size > 0 and is_known and is_pool
        found.stores.append(StoreDirective(name, size, pool))
    elif verb in ("use", "delete"):
        is_good = is_good and not rest
        (found.uses if verb == "use" else found.deletes).append(name)
    else:
        user = rest[0] if len(rest) == 1 else ""
        is_good = is_good and _USER.fullmatch(user) is not None
        found.shares.append(ShareDirective(verb == "share", name, user))
    return "" if is_good else f"write: {DIRECTIVE} persist {_PERSIST[verb]}"


def _options(words: Sequence[str]) -> dict[str, str]:
    """Return the key=value words, each key once; a word of another kind is missing
    then."""
    found: dict[str, str] = {}
    for word in words:
        key, _, value = word.partition("=")
        if value:
            found.setdefault(key, value)
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
