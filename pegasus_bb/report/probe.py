"""How long a competing program waited for the PFS, while results left the tier.

A probe reads or writes a block of a file on the PFS now and then, and logs a line for
each: {"time": seconds since the epoch, "op": "read", "latency": seconds}.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from pegasus_bb.core.errors import UsageError
from pegasus_bb.model.run import Drained, Run

_OPS = ("read", "write")
_LATEST = 1e11  # seconds since the epoch
_LINE = '{"time": 1700000000.5, "op": "read", "latency": 0.002}'


@dataclass(frozen=True, slots=True)
class Sample:
    time: float  # when it began, since the epoch
    op: str  # read | write
    latency: float  # seconds


@dataclass(frozen=True, slots=True)
class ProbeWaits:
    count: int
    p50: float  # seconds: half of them took no longer
    p99: float


@dataclass(frozen=True, slots=True)
class Probed:
    op: str
    during: ProbeWaits | None  # while a run on the buffer drained; None: no sample
    outside: ProbeWaits | None


def read_probe(path: Path) -> tuple[Sample, ...]:
    """Read a probe's log without its torn lines. Raises UsageError if none is left."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        why = f"cannot be read ({error.strerror}); name the log of a probe"
        raise UsageError(f"{path}: {why}") from error
    found = tuple(sample for sample in map(_sample, lines) if sample is not None)
    if not found:
        raise UsageError(f"{path}: has no line such as {_LINE}; is it a probe's log?")
    return found


def probed(samples: Sequence[Sample], runs: Iterable[Run]) -> tuple[Probed, ...]:
    """Sum up each kind of call, while one of ``runs`` drained at a pace, and
    outside."""
    spans = [run.drained for run in runs if run.drained is not None]
    return tuple(
        Probed(
            op,
            waits(each.latency for each in of_op if _is_during(each, spans)),
            waits(each.latency for each in of_op if not _is_during(each, spans)),
        )
        for op in _OPS
        if (of_op := [each for each in samples if each.op == op])
    )


def waits(latencies: Iterable[float]) -> ProbeWaits | None:
    """Return percentiles by nearest rank: each is a latency that was seen. None without
    any."""
    found = sorted(latencies)
    if not found:
        return None
    p50, p99 = (found[math.ceil(part * len(found)) - 1] for part in (0.5, 0.99))
    return ProbeWaits(len(found), p50, p99)


def sentences(found: Iterable[Probed]) -> Iterator[str]:
    for each in found:
        for waited, when in (
            (each.during, "while results left the tier"),
            (each.outside, "at other times"),
        ):
            if waited is not None:
                yield (
                    f"a competing {each.op} took {waited.p50 * 1e3:.1f} ms (p50), "
                    f"{waited.p99 * 1e3:.1f} ms (p99) {when}, {waited.count} in all"
                )


def _is_during(sample: Sample, spans: Iterable[Drained]) -> bool:
    """Return whether a part of it was during a span: it may have begun before."""
    end = sample.time + sample.latency
    return any(span.since <= end and sample.time <= span.until for span in spans)


def _sample(line: bytes) -> Sample | None:
    try:
        entry = orjson.loads(line)
    except ValueError:
        return None
    if not isinstance(entry, dict) or entry.get("op") not in _OPS:
        return None
    time = _number(entry.get("time"))
    latency = _number(entry.get("latency"))
    if time is None or latency is None:
        return None
    return Sample(time, entry["op"], latency)


def _number(value: Any) -> float | None:
    is_one = type(value) in (int, float) and 0 <= value < _LATEST
    return float(value) if is_one else None
