"""How pegasus-plan's Java collects what it no longer needs.

Left to itself, Java has threads that collect while it plans, for short pauses, which
nobody waits for here. Where processors are few, one that stops all others now and then
costs a sixth less processor time (measured: 2 processors, 30,000 jobs); our own reading
and sealing want it at the same time.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

FEW = 3  # processors; with more, each has its own
_SERIAL = "-XX:+UseSerialGC"
_VARIABLES = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")


def java_options(
    environ: Mapping[str, str], passed: Sequence[str], processors: int | None = None
) -> list[str]:
    """What its script hands to Java, which refuses a second collector: nothing where
    the user has named one, or a file that may do so."""
    said = [*passed, *(environ.get(name, "") for name in _VARIABLES)]
    if any("GC" in words or "@" in words for words in said):
        return []
    processors = processors or len(os.sched_getaffinity(0))
    return [_SERIAL] if processors <= FEW else []
