"""What every job of a workflow asks for, wherever its files are.

Bytes are the sizes of its files, each read or written once; what an earlier run has
counted goes before that. Demands are learned from earlier runs, or from what
``pegasus: runtime`` declares.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TypeAlias

from pegasus_bb.forecast.demands.demand import GROWTH, Demand, DemandRange, Moved
from pegasus_bb.forecast.demands.learned import demand_of
from pegasus_bb.model.batch_jobs import BatchJobs
from pegasus_bb.model.graph import Graph
from pegasus_bb.model.history import History, declared_past
from pegasus_bb.model.mean_and_error import ALIKE
from pegasus_bb.model.placement import PFS, Chain, JobReservation, PlacedFile
from pegasus_bb.model.run import FileUse
from pegasus_bb.model.speeds import Speeds
from pegasus_bb.model.workflow import Job, Workflow

# A pegasus profile of a job, by its key.
ProfileOf: TypeAlias = Callable[[Job, str], "str | None"]
Sized: TypeAlias = tuple[tuple[str, int], ...]  # (LFN, bytes)
_COUNTED = 1 << 20  # bytes; of smaller inputs a count tells of the program's own start
_NOTHING = DemandRange(Demand(0.0), Demand(0.0))
# Of a run time, at most. Tasks of 1000genome with twice the bytes had 1.0 to 1.3 times
# the user time.
_FIXED = 1.0
_MAY_BE_FIXED = (
    "files have other sizes now, and no tasks of several sizes show which part of the "
    "time grows with them: all of it, or none"
)
_SHORT = "the declared run time is shorter than reads and writes take"


@dataclass(slots=True)
class JobLoad:
    job: Job
    level: int  # in the graph, from 1
    demand: DemandRange
    reads: Sized
    writes: Sized
    read: int = 0  # bytes in all
    written: int = 0
    nodes: int = 1  # of the cluster
    # Seconds that earlier runs say it takes, if all of its work grows with its files,
    # and if none does; None: no record.
    takes: tuple[float, float] | None = None
    uses: tuple[FileUse, ...] = ()  # both, as a run has them: made once for all modes
    own: JobReservation | None = None  # of a chain


@dataclass(frozen=True)
class Workload:
    loads: tuple[JobLoad, ...]  # in the order of the workflow
    graph: Graph
    sizes: Mapping[str, int]  # bytes by LFN, of those that are known
    unknown_sizes: tuple[str, ...]  # LFNs; they count as empty
    unknown_times: int  # jobs; they count as if they did not compute

    @cached_property
    def demands(self) -> tuple[DemandRange, ...]:
        """Each object once: there are few."""
        return tuple({id(load.demand): load.demand for load in self.loads}.values())

    @cached_property
    def is_known(self) -> bool:
        """Whether no demand is a range."""
        return all(demand.is_known for demand in self.demands)

    @property
    def sources(self) -> Mapping[str, int]:
        """What demands were learned from -> of how many jobs."""
        found = Counter(load.demand.source for load in self.loads)
        return {name: count for name, count in found.items() if name}

    @property
    def notes(self) -> Mapping[str, int]:
        """Why demands are no better known -> of how many jobs."""
        found = Counter(load.demand.note for load in self.loads)
        return {note: count for note, count in found.items() if note}

    @cached_property
    def causes(self) -> tuple[str, ...]:
        """Why demands are ranges."""
        causes = (cause for demand in self.demands for cause in demand.causes)
        return tuple(dict.fromkeys(causes))

    @cached_property
    def is_guess(self) -> bool:
        """Whether a demand rests on what other sites have seen."""
        return any(demand.is_guess for demand in self.demands)


def workload(
    workflow: Workflow,
    graph: Graph,
    files: Mapping[str, PlacedFile],
    speeds: Speeds,
    history: History,
    *,
    profile: ProfileOf,
) -> Workload:
    sizes = {lfn: file.size for lfn, file in files.items() if file.size is not None}
    loads = []
    unknown = 0
    has_times = history.has_times
    demands: dict[tuple[object, ...], DemandRange] = {}  # equal ones are one object
    for job in workflow:
        reads, writes, read, written = _files(job, sizes)
        pasts = fewer = []
        if has_times:
            task = job.id, job.transformation
            used = (*reads, *writes), writes
            pasts = fewer = history.pasts(*task, *used)
            if pasts != history.pasts(*task):
                fewer = history.pasts(*task, *used, fixed=_FIXED)
        takes = (pasts[0][1].duration, fewer[0][1].duration) if pasts else None
        past = None if pasts else declared_past(profile(job, "runtime"))
        if past is not None:
            pasts = fewer = [(PFS, past)]
        demand = _NOTHING
        nodes = _whole(profile(job, "nodes"))
        if not pasts:
            unknown += 1
        else:
            first = pasts[0][1]
            reads, read = _as_counted(reads, read, first.read)
            writes, written = _as_counted(writes, written, first.written)
            moved = Moved(read, written, len(reads) + len(writes))
            cores = _whole(profile(job, "cores"))
            is_declared = past is not None
            key = (*pasts, moved, cores, nodes, is_declared)
            if key not in demands:
                ask = moved, speeds, cores, nodes
                demands[key] = demand_of(pasts, *ask)
                if fewer != pasts:
                    demands[key] = _or_less(demands[key], demand_of(fewer, *ask))
                moving = speeds.pfs.of_job(*moved, nodes)
                if is_declared and moving > first.duration * (1 + ALIKE):
                    demands[key] = _noted(demands[key], _SHORT)
            demand = demands[key]
        level = graph.level[job.id]
        moves = reads, writes, read, written
        loads.append(JobLoad(job, level, demand, *moves, nodes, takes))
    missing = tuple(lfn for lfn in files if lfn not in sizes)
    return Workload(tuple(loads), graph, sizes, missing, unknown)


def _or_less(all_grows: DemandRange, a_part: DemandRange) -> DemandRange:
    doubts = (*all_grows.causes, GROWTH)
    whole = replace(_noted(all_grows, _MAY_BE_FIXED), doubts=doubts)
    return replace(whole, optimistic=a_part.optimistic)


def _noted(demand: DemandRange, note: str) -> DemandRange:
    return replace(demand, note="; ".join(filter(None, (demand.note, note))))


def _whole(text: str | None) -> int:
    return max(1, int(text)) if text and re.fullmatch("[0-9]{1,9}", text) else 1


def _files(job: Job, sizes: Mapping[str, int]) -> tuple[Sized, Sized, int, int]:
    """Return what it reads and writes, and the bytes of both."""
    reads: list[tuple[str, int]] = []
    writes: list[tuple[str, int]] = []
    read = written = 0
    for use in job.uses:
        lfn = use.lfn
        kind = use.kind
        size = sizes.get(lfn, 0)
        if kind == "input":
            reads.append((lfn, size))
            read += size
        elif kind == "output":
            writes.append((lfn, size))
            written += size
    return tuple(reads), tuple(writes), read, written


def _as_counted(files: Sized, size: int, counted: int | None) -> tuple[Sized, int]:
    """Scale ``files`` to the counted bytes, unless they are too small to tell."""
    if counted is None or size < _COUNTED:
        return files, size
    found = tuple((lfn, own * counted // size) for lfn, own in files)
    return found, sum(own for _, own in found)


def joined(work: Workload, chains: Sequence[Chain]) -> Workload:
    """``work`` where each chain is one task, under the id of its first job. Linear."""
    found = [chain.jobs for chain in chains]
    batch = BatchJobs(work.graph, found, dict.fromkeys(work.graph.order, 0.0))
    own = {chain.jobs[0]: chain.reservation for chain in chains}
    loads: dict[str, list[JobLoad]] = {}
    for load in work.loads:
        loads.setdefault(batch.head[load.job.id], []).append(load)
    summed = cache(_sum)  # equal chains have one object, as equal tasks have
    tasks = []
    for job, each in loads.items():
        load = next(load for load in each if load.job.id == job)
        if job in own:
            load = _task_of_chain(
                load, each, summed(tuple(load.demand for load in each))
            )
        tasks.append(replace(load, level=batch.level[job], own=own.get(job)))
    graph = _graph_of_batch_jobs(work.graph, batch)
    return replace(work, loads=tuple(tasks), graph=graph)


def _task_of_chain(
    first: JobLoad, loads: Sequence[JobLoad], demand: DemandRange
) -> JobLoad:
    """Each file once, since it comes once and goes once; and all bytes that tasks read
    and write."""
    reads = {file: None for load in loads for file in load.reads}
    writes = {file: None for load in loads for file in load.writes}
    return replace(
        first,
        demand=demand,
        reads=tuple(reads),
        writes=tuple(writes),
        read=sum(load.read for load in loads),
        written=sum(load.written for load in loads),
        nodes=max(load.nodes for load in loads),
        takes=None,
        uses=(),
    )


def _sum(demands: Sequence[DemandRange]) -> DemandRange:
    """Of tasks that run one after the other."""
    doubts = dict.fromkeys(cause for each in demands for cause in each.causes)
    return replace(
        demands[0],
        pessimistic=_added([each.pessimistic for each in demands]),
        optimistic=_added([each.optimistic for each in demands]),
        is_guess=any(each.is_guess for each in demands),
        doubts=tuple(doubts),
    )


def _added(demands: Sequence[Demand]) -> Demand:
    return Demand(
        sum(each.compute for each in demands),
        sum(each.operations for each in demands),
    )


def _graph_of_batch_jobs(graph: Graph, batch: BatchJobs) -> Graph:
    head = batch.head
    return Graph(
        {lfn: head[job] for lfn, job in graph.producer.items()},
        {
            lfn: list(dict.fromkeys(head[job] for job in readers))
            for lfn, readers in graph.consumers.items()
        },
        batch.children,
        batch.parents,
        list(batch.parents),
        batch.level,
    )
