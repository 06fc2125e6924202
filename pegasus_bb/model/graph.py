"""Which job makes each file, which read it, and in which order the jobs run."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from pegasus_bb.model.workflow import Workflow


@dataclass(frozen=True)
class Graph:
    """Jobs by id. Edges are the declared ones and those that files imply."""

    producer: dict[str, str]  # LFN -> the job that makes it
    consumers: dict[str, list[str]]  # LFN -> the jobs that read it, in file order
    children: dict[str, list[str]]  # without repetitions, for every job
    parents: dict[str, list[str]]
    order: list[str]  # a topological order, stable
    level: dict[str, int]  # length of the longest path from a root; roots have 1


def build_graph(workflow: Workflow) -> Graph:
    """Raises CatalogError: two producers of one LFN, or a cycle."""
    producer, consumers = _files(workflow)
    edges: dict[str, dict[str, None]] = {ident: {} for ident in workflow.jobs}
    for parent, declared in workflow.children.items():
        edges[parent].update(dict.fromkeys(declared))
    for lfn, readers in consumers.items():
        maker = producer.get(lfn)
        if maker is not None:
            below = edges[maker]
            for reader in readers:
                if reader != maker:
                    below[reader] = None
    children: dict[str, list[str]] = {}
    parents: dict[str, list[str]] = {ident: [] for ident in workflow.jobs}
    for ident, below in edges.items():
        children[ident] = list(below)
        for child in below:
            parents[child].append(ident)
    order, level = _sort(workflow, children, parents)
    return Graph(producer, consumers, children, parents, order, level)


def _files(workflow: Workflow) -> tuple[dict[str, str], dict[str, list[str]]]:
    producer: dict[str, str] = {}
    consumers: dict[str, list[str]] = {}
    for ident, job in workflow.jobs.items():
        for use in job.uses:
            if use.kind == "output":
                other = producer.setdefault(use.lfn, ident)
                if other != ident:
                    raise _made_twice(workflow, other, ident, use.lfn)
            elif use.kind == "input":
                consumers.setdefault(use.lfn, []).append(ident)
    return producer, consumers


def _made_twice(workflow: Workflow, one: str, other: str, lfn: str) -> Exception:
    return workflow.job_error(
        workflow.jobs[other],
        f"two jobs, {one} and {other}, make one file",
        lfn,
        "give each output an LFN of its own",
    )


def _sort(
    workflow: Workflow, children: dict[str, list[str]], parents: dict[str, list[str]]
) -> tuple[list[str], dict[str, int]]:
    waiting = {ident: len(above) for ident, above in parents.items()}
    ready = deque(ident for ident, count in waiting.items() if count == 0)
    level = dict.fromkeys(ready, 1)
    order: list[str] = []
    while ready:
        ident = ready.popleft()
        order.append(ident)
        next_level = level[ident] + 1
        for child in children[ident]:
            waiting[child] -= 1
            # The queue is in order of level: no parent is deeper.
            if waiting[child] == 0:
                level[child] = next_level
                ready.append(child)
    if len(order) < len(waiting):
        raise _cycle(workflow, children, waiting)
    return order, level


def _cycle(
    workflow: Workflow, children: dict[str, list[str]], waiting: dict[str, int]
) -> Exception:
    """An error that names one cycle: walk back from a stuck job until one repeats."""
    stuck = {ident for ident, count in waiting.items() if count > 0}
    above = {child: ident for ident in stuck for child in children[ident]}
    here = next(ident for ident in waiting if ident in stuck and ident in above)
    seen: dict[str, None] = {}
    while here not in seen:
        seen[here] = None
        here = above[here]
    names = list(seen)
    ring = [here, *reversed(names[names.index(here) :])]
    return workflow.job_error(
        workflow.jobs[here],
        "jobs wait for each other in a circle",
        " -> ".join(ring),
        "remove one of these dependencies",
    )
