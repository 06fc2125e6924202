"""The workflow in few boxes: each job where there are few, else all of one
transformation in one level together; and what flows between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pegasus_bb.model.graph import Graph
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.workflow import Job, Workflow

EACH = 40  # jobs; more are drawn in groups
INPUTS, RESULTS = "inputs", "results"
_NAMED = 8  # LFNs and ids in a tooltip


@dataclass(slots=True)
class Group:
    """Jobs that are one box; inputs and results are boxes without jobs."""

    key: str
    name: str
    level: int
    jobs: int = 0
    some: list[str] = field(default_factory=list)  # ids, the first of them

    @property
    def label(self) -> str:
        """What stands in the box."""
        return f"{self.name} x{self.jobs}" if self.jobs > 1 else self.name


@dataclass(slots=True)
class Stream:
    """All files that go from one box to another and live in one place."""

    source: str
    dest: str
    tier: str  # or pfs
    how: str  # copy | link | write
    files: int = 0
    size: int = 0  # bytes of those that are known
    some: list[str] = field(default_factory=list)  # LFNs, the first of them


@dataclass(frozen=True)
class Flow:
    """Boxes by key, in the order of the workflow, and streams between them."""

    groups: dict[str, Group]
    streams: list[Stream]


def grouped(workflow: Workflow, graph: Graph, placement: Placement) -> Flow:
    """Linear in the uses of all jobs."""
    keys = dict(_keys(workflow, graph))
    last = max(graph.level.values(), default=0) + 1
    groups = {INPUTS: Group(INPUTS, INPUTS, 0)}
    for ident, job in workflow.jobs.items():
        _add(groups, keys[ident], job, graph.level[ident])
    groups[RESULTS] = Group(RESULTS, RESULTS, last)
    streams: dict[tuple[str, str, str, str], Stream] = {}
    for lfn, source, dest in dict.fromkeys(_ways(workflow, graph, keys)):
        file = placement.files[lfn]
        key = (source, dest, file.tier, file.how)
        stream = streams.setdefault(key, Stream(*key))
        stream.files += 1
        stream.size += file.size or 0
        if len(stream.some) < _NAMED:
            stream.some.append(lfn)
    used = {end for stream in streams.values() for end in (stream.source, stream.dest)}
    kept = {k: g for k, g in groups.items() if g.jobs or k in used}
    return Flow(kept, list(streams.values()))


def _keys(workflow: Workflow, graph: Graph) -> Iterator[tuple[str, str]]:
    few = len(workflow.jobs) <= EACH
    for ident, job in workflow.jobs.items():
        yield ident, f"job {ident}" if few else f"{graph.level[ident]} {job.name}"


def _add(groups: dict[str, Group], key: str, job: Job, level: int) -> None:
    group = groups.setdefault(key, Group(key, job.name, level))
    group.jobs += 1
    if len(group.some) < _NAMED:
        group.some.append(job.id)


def _ways(
    workflow: Workflow, graph: Graph, keys: dict[str, str]
) -> Iterator[tuple[str, str, str]]:
    """(LFN, from, to) of every use, and of every result."""
    for ident, job in workflow.jobs.items():
        for use in job.uses:
            if use.kind == "input":
                maker = graph.producer.get(use.lfn)
                yield use.lfn, keys[maker] if maker else INPUTS, keys[ident]
            elif use.stage_out:
                yield use.lfn, keys[ident], RESULTS
