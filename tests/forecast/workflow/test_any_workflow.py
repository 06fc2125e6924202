"""Whatever the workflow: every job once, after its parents, and no sooner than its
critical path allows."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.forecast.demands.demand import Demand, DemandRange
from pegasus_bb.forecast.workflow.execution import Execution
from pegasus_bb.forecast.workflow.simulator import (
    Mode,
    PlannedWorkflow,
    Simulator,
    demands_of,
)
from pegasus_bb.forecast.workflow.workload import JobLoad, Workload
from pegasus_bb.model.graph import Graph
from pegasus_bb.model.history import Startup
from pegasus_bb.model.modes import PERSISTENT
from pegasus_bb.model.placement import PlacedFile, Placement
from pegasus_bb.model.speeds import Speed, Speeds
from pegasus_bb.model.tiers import Tier
from pegasus_bb.model.workflow import Job, Use

SIZES = st.integers(0, 1000)  # bytes
SECONDS = st.sampled_from([0.0, 0.25, 1.0, 3.0, 10.0])
RATES = st.sampled_from([10.0, 64.0, 1000.0])  # per second
PLACES = ("pfs", "bb")


@st.composite
def speeds(draw: st.DrawFn) -> Speeds:
    def speed() -> Speed:
        read = draw(RATES)
        write = draw(RATES)
        ops = draw(RATES)
        return Speed(
            read,
            write,
            min(read, draw(RATES)),
            min(write, draw(RATES)),
            draw(st.sampled_from([0.0, 0.1])),
            ops,
            min(ops, draw(RATES)),
        )

    slots = draw(st.integers(1, 4))
    return Speeds(slots, {place: speed() for place in PLACES}, "drawn")


@dataclass(frozen=True)
class Drawn:
    simulator: Simulator
    placement: Placement

    def modes(self) -> list[Mode]:
        make = self.simulator
        return [
            make.off(self.placement),
            make.shared(self.placement, PERSISTENT),
            make.transient(self.placement, lambda need: need),
        ]


@st.composite
def workflows(draw: st.DrawFn) -> Drawn:
    """Each job writes a file; it reads an input of the workflow and some of the files
    of earlier jobs."""
    jobs: list[Job] = []
    sizes: dict[str, int] = {}
    parents: dict[str, list[str]] = {}
    for number in range(draw(st.integers(1, 7))):
        made = [f"out{n}" for n in range(number)]
        reads = draw(st.lists(st.sampled_from(made), unique=True)) if made else []
        reads += draw(st.lists(st.sampled_from(["in0", "in1"]), unique=True))
        out = f"out{number}"
        sizes.update({lfn: draw(SIZES) for lfn in (*reads, out) if lfn not in sizes})
        uses = [Use(lfn, "input") for lfn in reads]
        uses.append(Use(out, "output", stage_out=draw(st.booleans())))
        ident = f"ID{number}"
        jobs.append(Job(ident, "work", "job", number, {}, uses))
        parents[ident] = [f"ID{lfn[3:]}" for lfn in reads if lfn.startswith("out")]
    graph = _graph(jobs, parents)
    files = {
        lfn: PlacedFile(
            lfn,
            _role(lfn, jobs),
            draw(st.sampled_from(PLACES)),
            "copy" if lfn.startswith("in") else "write",
            size,
            "drawn",
        )
        for lfn, size in sizes.items()
    }
    loads = tuple(_load(draw, job, graph, sizes) for job in jobs)
    startup = Startup(draw(SECONDS), draw(SECONDS), draw(SECONDS))
    found = PlannedWorkflow(
        work=Workload(loads, graph, sizes, (), 0),
        speeds=draw(speeds()),
        files=files,
        cleanup=draw(st.sampled_from(["inplace", "leaf", "none"])),
        startup=startup,
        wait=draw(SECONDS),
    )
    tier = Tier("cluster", "bb", "directory")
    return Drawn(Simulator(found), Placement(tier, files, capacity=1000))


def _role(lfn: str, jobs: list[Job]) -> str:
    if lfn.startswith("in"):
        return "input"
    use = next(u for job in jobs for u in job.outputs() if u.lfn == lfn)
    return "output" if use.stage_out else "intermediate"


def _graph(jobs: list[Job], parents: dict[str, list[str]]) -> Graph:
    children: dict[str, list[str]] = {job.id: [] for job in jobs}
    level: dict[str, int] = {}
    for job in jobs:
        level[job.id] = 1 + max((level[up] for up in parents[job.id]), default=0)
        for up in parents[job.id]:
            children[up].append(job.id)
    producer = {use.lfn: job.id for job in jobs for use in job.outputs()}
    return Graph(producer, {}, children, parents, [job.id for job in jobs], level)


def _load(draw: st.DrawFn, job: Job, graph: Graph, sizes: dict[str, int]) -> JobLoad:
    reads = tuple((use.lfn, sizes[use.lfn]) for use in job.inputs())
    writes = tuple((use.lfn, sizes[use.lfn]) for use in job.outputs())
    demand = Demand(draw(SECONDS), draw(SECONDS))
    total = sum(size for _, size in reads), sum(size for _, size in writes)
    both = DemandRange(demand, demand)
    return JobLoad(job, graph.level[job.id], both, reads, writes, *total)


def executed(drawn: Drawn, mode: Mode) -> Execution:
    return drawn.simulator.execute(mode, demands_of(drawn.simulator.planned.work, 0))


@given(workflows())
def test_every_node_runs_once_after_its_parents(drawn: Drawn) -> None:
    for mode in drawn.modes():
        done = executed(drawn, mode)
        for at, node in enumerate(done.outline.nodes):
            times = (
                done.ready[at],
                done.started[at],
                done.began[at],
                done.stopped[at],
                done.ended[at],
            )
            assert sorted(times) == list(times)
            for child in node.children:
                assert done.ready[child] >= done.ended[at]
        assert done.makespan >= max(done.ended)


@given(workflows())
def test_no_more_jobs_than_slots(drawn: Drawn) -> None:
    slots = drawn.simulator.planned.speeds.slots
    for mode in drawn.modes():
        done = executed(drawn, mode)
        for at, since in enumerate(done.started):
            if done.stopped[at] > since:
                others = zip(done.started, done.stopped, strict=True)
                assert sum(one <= since < end for one, end in others) <= slots


@given(workflows())
def test_no_run_is_shorter_than_its_critical_path(drawn: Drawn) -> None:
    graph = drawn.simulator.planned.work.graph
    for mode in drawn.modes():
        done = executed(drawn, mode)
        seconds = [load.demand.pessimistic.compute for load in graph_loads(drawn)]
        at = {load.job.id: n for n, load in enumerate(graph_loads(drawn))}
        path: dict[str, float] = {}
        for ident in graph.order:
            above = max((path[up] for up in graph.parents[ident]), default=0.0)
            path[ident] = above + seconds[at[ident]]
        assert done.makespan >= max(path.values()) - 1e-9


def graph_loads(drawn: Drawn) -> tuple[JobLoad, ...]:
    return drawn.simulator.planned.work.loads


@given(workflows())
def test_the_parts_add_up_to_the_makespan(drawn: Drawn) -> None:
    for mode in drawn.modes():
        done = executed(drawn, mode)
        assert sum(done.clock.seconds) == pytest.approx(done.makespan)
