"""What every job of a workflow asks of storage and processors, wherever its files are.

Bytes are the sizes of its files, each read or written once; what an earlier run has
counted goes before that. Seconds of computing are an earlier run's, without what the
model gives to its input and output, or those that ``pegasus: runtime`` declares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pegasus_bb.model.graph import Graph
from pegasus_bb.model.history import History, Past, declared
from pegasus_bb.model.placement import PFS, Placed
from pegasus_bb.model.speeds import Speeds
from pegasus_bb.model.workflow import Job, Workflow

_COUNTED = 1 << 20  # bytes; of smaller inputs a count tells of the program's own start


@dataclass(frozen=True, slots=True)
class Load:
    """One job."""

    job: str
    level: int
    compute: float  # seconds
    reads: tuple[tuple[str, int], ...]  # (LFN, bytes)
    writes: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Workload:
    """All jobs, and what nobody knew of them."""

    loads: tuple[Load, ...]
    sizes: Mapping[str, int]  # bytes by LFN, of those that are known
    unknown_sizes: tuple[str, ...]  # LFNs; they count as empty
    unknown_times: int  # jobs; they count as if they did not compute


def workload(
    workflow: Workflow,
    graph: Graph,
    files: Mapping[str, Placed],
    speeds: Speeds,
    history: History,
) -> Workload:
    """Of every job of the user's. Linear in the workflow."""
    sizes = dict(_sizes(files, history))
    loads, unknown = [], 0
    for job in workflow.jobs.values():
        past, on = _past(job, history)
        unknown += past is None
        reads = tuple((use.lfn, sizes.get(use.lfn, 0)) for use in job.inputs())
        writes = tuple((use.lfn, sizes.get(use.lfn, 0)) for use in job.outputs())
        if past is not None:
            reads = _as_counted(reads, past.read)
            writes = _as_counted(writes, past.written)
        compute = _computing(past, speeds, on, reads, writes) if past else 0.0
        loads.append(Load(job.id, graph.level[job.id], compute, reads, writes))
    missing = tuple(lfn for lfn in files if lfn not in sizes)
    return Workload(tuple(loads), sizes, missing, unknown)


def _sizes(files: Mapping[str, Placed], history: History) -> Iterator[tuple[str, int]]:
    for lfn, file in files.items():
        size = history.sizes.get(lfn) if file.size is None else file.size
        if size is not None:
            yield lfn, size


def _past(job: Job, history: History) -> tuple[Past | None, str]:
    """What is known of ``job``, and where its files were then."""
    past = history.of(job.id, job.transformation)
    if past is not None:
        return past, history.place
    return declared(job), PFS


def _as_counted(
    files: tuple[tuple[str, int], ...], counted: int | None
) -> tuple[tuple[str, int], ...]:
    """``files`` with so many bytes in all as were counted, where that tells of them."""
    size = sum(size for _, size in files)
    if counted is None or size < _COUNTED:
        return files
    return tuple((lfn, own * counted // size) for lfn, own in files)


def _computing(
    past: Past,
    speeds: Speeds,
    place: str,
    reads: tuple[tuple[str, int], ...],
    writes: tuple[tuple[str, int], ...],
) -> float:
    """Seconds of ``past`` that are not input and output, as the model has them."""
    speed = speeds.places.get(place, speeds.pfs)
    read, written = sum(size for _, size in reads), sum(size for _, size in writes)
    moving = speed.of_job(read, written, len(reads) + len(writes))
    return max(past.duration - moving, min(past.user or 0.0, past.duration), 0.0)
