"""Failures on request, for tests and teaching: the key ``fail`` of a directory tier.

    fail = CLAUSE { ";" CLAUSE }
    CLAUSE = CALL [ "*" N | "+" N ] ":" WORDS

CALL is create, status or delete. ``*N``: only the first N calls; ``+N``: every call
after the first N. WORDS are what the scheduler says; two have a meaning of their own:
``unreachable`` (no answer) and, for status, ``gone`` (it is not there). Examples:

    create: no space left on any server     refused at once
    status*3: unreachable                   a controller that comes back
    status+2: gone                          lost after it was up
    delete: device busy                     cannot be given back
"""

from __future__ import annotations

import re
from typing import Dict, List, NamedTuple

from pegasus_bb.errors import UsageError

UNREACHABLE = "unreachable"
GONE = "gone"
_CLAUSE = re.compile(r"\s*(create|status|delete)\s*(?:([*+])\s*([0-9]+))?\s*:\s*(.*\S)")


class Mishap(NamedTuple):
    """One clause: which calls fail, and with what words."""

    call: str
    after: int  # calls that go well first
    until: float  # the last call that fails
    words: str


def parse_mishaps(text: str) -> List[Mishap]:
    """The clauses of ``fail``. Raises UsageError."""
    return [_parse(clause) for clause in text.split(";") if clause.strip()]


def _parse(clause: str) -> Mishap:
    match = _CLAUSE.match(clause)
    if match is None:
        raise UsageError(
            f"{clause.strip()!r} is no mishap; write CALL: WORDS with CALL one "
            "of create, status, delete (and *N for the first N calls only, +N for all "
            "after N), such as `status*3: unreachable`"
        )
    call, sign, count, words = match.groups()
    after = int(count) if sign == "+" else 0
    until = float(count) if sign == "*" else float("inf")
    return Mishap(call, after, until, words)


def strike(mishaps: List[Mishap], call: str, calls: Dict[str, int]) -> str:
    """The words with which this ``call`` fails, or nothing; ``calls`` counts them."""
    wanted = [mishap for mishap in mishaps if mishap.call == call]
    if not wanted:
        return ""
    calls[call] = calls.get(call, 0) + 1
    now = calls[call]
    return next((m.words for m in wanted if m.after < now <= m.until), "")
