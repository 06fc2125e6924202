"""A workload in which each chain is one task, under the id of its first job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from pegasus_bb.forecast.demands.demand import Demand, DemandRange
from pegasus_bb.forecast.workflow.workload import JobLoad, Workload
from pegasus_bb.model.batch_jobs import BatchJobs
from pegasus_bb.model.graph import Graph
from pegasus_bb.model.placement import Chain


def joined(work: Workload, chains: Sequence[Chain]) -> Workload:
    """``work`` with its ``chains``. Linear in the workflow."""
    found = [list(chain.jobs) for chain in chains]
    batch = BatchJobs(work.graph, found, dict.fromkeys(work.graph.order, 0.0))
    head = {job: chain[0] for chain in found for job in chain}
    own = {chain.jobs[0]: chain.reservation for chain in chains}
    loads: dict[str, list[JobLoad]] = {}
    for load in work.loads:
        loads.setdefault(head.get(load.job.id, load.job.id), []).append(load)
    summed = cache(_sum)  # equal chains have one object, as equal tasks have
    tasks = []
    for job, each in loads.items():
        load = next(load for load in each if load.job.id == job)
        if job in own:
            load = _one(load, each, summed(tuple(load.demand for load in each)))
        tasks.append(replace(load, level=batch.level[job], own=own.get(job)))
    return replace(work, loads=tuple(tasks), graph=_graph(work.graph, batch, head))


def _one(first: JobLoad, loads: Sequence[JobLoad], demand: DemandRange) -> JobLoad:
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


def _graph(graph: Graph, batch: BatchJobs, head: Mapping[str, str]) -> Graph:
    children: dict[str, list[str]] = {job: [] for job in batch.parents}
    for job, above in batch.parents.items():
        for parent in above:
            children[parent].append(job)
    return Graph(
        {lfn: head.get(job, job) for lfn, job in graph.producer.items()},
        {
            lfn: list(dict.fromkeys(head.get(job, job) for job in readers))
            for lfn, readers in graph.consumers.items()
        },
        children,
        batch.parents,
        list(batch.parents),
        batch.level,
    )
