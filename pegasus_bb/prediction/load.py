"""What every job of a workflow asks of storage and processors, wherever its files are.

Bytes are the sizes of its files, each read or written once; what an earlier run has
counted goes before that. Seconds of computing are an earlier run's, without what the
model gives to its input and output, or those that ``pegasus: runtime`` declares.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pegasus_bb.model.graph import Graph
from pegasus_bb.model.history import History, Past, declared
from pegasus_bb.model.placement import PFS, PlacedFile
from pegasus_bb.model.speeds import Speeds
from pegasus_bb.model.workflow import Job, Workflow

_Sized: TypeAlias = tuple[tuple[str, int], ...]  # (LFN, bytes)
_COUNTED = 1 << 20  # bytes; of smaller inputs a count tells of the program's own start


@dataclass(slots=True)
class Load:
    job: str
    level: int
    compute: float  # seconds
    reads: _Sized
    writes: _Sized


@dataclass(frozen=True)
class Workload:
    loads: tuple[Load, ...]
    sizes: Mapping[str, int]  # bytes by LFN, of those that are known
    unknown_sizes: tuple[str, ...]  # LFNs; they count as empty
    unknown_times: int  # jobs; they count as if they did not compute


def workload(
    workflow: Workflow,
    graph: Graph,
    files: Mapping[str, PlacedFile],
    speeds: Speeds,
    history: History,
) -> Workload:
    learned = history.sizes
    known = (
        (lfn, learned.get(lfn) if f.size is None else f.size)
        for lfn, f in files.items()
    )
    sizes = {lfn: size for lfn, size in known if size is not None}
    loads, unknown, tells = [], 0, history.tells
    for job in workflow.jobs.values():
        past, on = _past(job, history) if tells else (declared(job), PFS)
        reads, writes = _files(job, sizes)
        compute = 0.0
        if past is None:
            unknown += 1
        else:
            reads = _as_counted(reads, past.read)
            writes = _as_counted(writes, past.written)
            compute = _computing(past, speeds, on, reads, writes)
        loads.append(Load(job.id, graph.level[job.id], compute, reads, writes))
    missing = tuple(lfn for lfn in files if lfn not in sizes)
    return Workload(tuple(loads), sizes, missing, unknown)


def _files(job: Job, sizes: Mapping[str, int]) -> tuple[_Sized, _Sized]:
    reads: list[tuple[str, int]] = []
    writes: list[tuple[str, int]] = []
    for use in job.uses:
        if use.kind != "checkpoint":
            own = reads if use.kind == "input" else writes
            own.append((use.lfn, sizes.get(use.lfn, 0)))
    return tuple(reads), tuple(writes)


def _past(job: Job, history: History) -> tuple[Past | None, str]:
    past = history.of(job.id, job.transformation)
    if past is not None:
        return past, history.place
    return declared(job), PFS


def _as_counted(files: _Sized, counted: int | None) -> _Sized:
    """``files`` with the counted bytes in all, unless they are too small to tell."""
    size = sum(size for _, size in files)
    if counted is None or size < _COUNTED:
        return files
    return tuple((lfn, own * counted // size) for lfn, own in files)


def _computing(
    past: Past, speeds: Speeds, place: str, reads: _Sized, writes: _Sized
) -> float:
    """Seconds of ``past`` that are not input and output, as the model has them."""
    speed = speeds.places.get(place, speeds.pfs)
    read, written = sum(size for _, size in reads), sum(size for _, size in writes)
    moving = speed.of_job(read, written, len(reads) + len(writes))
    return max(past.duration - moving, min(past.user or 0.0, past.duration), 0.0)
