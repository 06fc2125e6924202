"""How pegasus-plan's Java collects what it no longer needs, and what it compiles.

Left to itself, Java has threads that collect while it plans, for short pauses, which
nobody waits for here, and takes a gigabyte from the system before it first looks what
it could use again. Where processors are few, one is better off with pauses that all of
them share, and with an eighth of the heap for what is new: measured on 2 processors
with 30,000 jobs, a sixth less of time and of processor time (docs/pegasus.md).

Java also compiles what runs often a second time, better. For a workflow that is planned
within ten seconds that takes a third of all its processor time, and comes too late.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

FEW = 3  # processors; with more, each has its own
_SERIAL, _PARALLEL = "-XX:+UseSerialGC", "-XX:+UseParallelGC"
_YOUNG = "-XX:NewRatio=7"  # unlike -Xmn it fits every heap
_ONCE = "-XX:TieredStopAtLevel=1"
SHORT = 4_000_000  # bytes of a workflow; some 15,000 jobs
_VARIABLES = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")


def java_options(
    environ: Mapping[str, str],
    passed: Sequence[str],
    size: int,
    processors: int | None = None,
) -> list[str]:
    """What its script hands to Java for a workflow of ``size`` bytes. Java refuses a
    second collector: nothing where the user has named one, or a file that may do so."""
    said = [*passed, *(environ.get(name, "") for name in _VARIABLES)]
    if any("GC" in words or "@" in words for words in said):
        return []
    processors = processors or len(os.sched_getaffinity(0))
    if processors > FEW:
        return []
    collector = _SERIAL if processors == 1 else _PARALLEL
    return [collector, _YOUNG, *([_ONCE] if size < SHORT else [])]
