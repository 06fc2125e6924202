"""How a copy is written: in segments, and with a write hint."""

from __future__ import annotations

from pegasus_bb.core.light_typing import NamedTuple
from pegasus_bb.runtime.staging.hints import NO_HINT
from pegasus_bb.runtime.staging.segments import Segments


class Writing(NamedTuple):
    segments: Segments | None = None  # None: all at once
    hint: int = NO_HINT  # of their expected lifetime: hints.py


DEFAULT_WRITING = Writing()
