"""How DAGMan itself ended, in its own words: <dag>.dagman.out.

pegasus-run puts pegasus-dagman around it, which ends with DAGMan's exit status AND
monitord's, bit by bit: with 0 wherever monitord did, and where DAGMan was killed.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pegasus_bb.engine.submitdir import SubmitDir

_READ = 1 << 20
_LINES = 3
_BEGUN = b") STARTING UP"
_ENDED = re.compile(rb"\) pid \d+ EXITING WITH STATUS (\d+)$", re.MULTILINE)
_TELLING = ("ERROR", "Warning")
_STAMP = re.compile(r"^\S+ \S+ ")


class Verdict(NamedTuple):
    """What the log says of the last DAGMan."""

    status: int | None  # its exit status; None: it did not come to an end
    errors: tuple[str, ...]  # the last errors and warnings


def read_verdict(place: SubmitDir) -> Verdict | None:
    """None where there is no such log."""
    try:
        with place.dag.with_name(f"{place.dag.name}.dagman.out").open("rb") as source:
            source.seek(max(0, source.seek(0, 2) - _READ))
            text = source.read()
    except OSError:
        return None
    own = text[text.rfind(_BEGUN) + 1 :]
    ended = _ENDED.findall(own)
    lines = (_STAMP.sub("", line) for line in own.decode(errors="replace").splitlines())
    said = [line for line in lines if line.startswith(_TELLING)]
    return Verdict(int(ended[-1]) if ended else None, tuple(said[-_LINES:]))
