"""How the bytes of a copy are written: in segments that wait, or with a hint."""

from __future__ import annotations

from typing import NamedTuple, Optional

from pegasus_bb.staging.hints import NO_HINT
from pegasus_bb.staging.segments import Segments


class Writing(NamedTuple):
    segments: Optional[Segments] = None  # None: all at once
    hint: int = NO_HINT  # how long the bytes will live: hints.py


PLAINLY = Writing()
