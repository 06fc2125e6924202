"""Whatever the workflow: every job once, after its parents, and no sooner than its
critical path allows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

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
from pegasus_bb.forecast.workflow.workload import workload
from pegasus_bb.model.document import Document
from pegasus_bb.model.graph import build_graph
from pegasus_bb.model.history import History, Startup
from pegasus_bb.model.modes import PERSISTENT
from pegasus_bb.model.placement import PlacedFile, Placement
from pegasus_bb.model.speeds import Speed, Speeds
from pegasus_bb.model.tiers import Tier
from pegasus_bb.model.workflow import Use, read_workflow
from tests.support.any_workflow import workflows
from tests.support.user_files import own_profile

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
def planned(draw: st.DrawFn) -> Drawn:
    """Each file is in either place, each job computes and calls for a while."""
    jobs = draw(workflows("work", most=7, sizes=SIZES))
    data = {"pegasus": "5.0", "name": "any", "jobs": jobs}
    workflow = read_workflow(Document(Path("workflow.yml"), data))
    made = {u.lfn: u for job in workflow.jobs.values() for u in job.outputs()}
    read = {u.lfn: u for job in workflow.jobs.values() for u in job.inputs()}
    files = {
        lfn: PlacedFile(
            lfn,
            _role(made.get(lfn)),
            draw(st.sampled_from(PLACES)),
            "write" if lfn in made else "copy",
            made[lfn].size if lfn in made else draw(SIZES),
            "drawn",
        )
        for lfn in {**read, **made}
    }
    rates = draw(speeds())
    graph = build_graph(workflow)
    work = workload(workflow, graph, files, rates, History(), profile=own_profile)
    loads = []
    for load in work.loads:
        demand = Demand(draw(SECONDS), draw(SECONDS))
        loads.append(replace(load, demand=DemandRange(demand, demand)))
    found = PlannedWorkflow(
        work=replace(work, loads=tuple(loads)),
        speeds=rates,
        files=files,
        cleanup=draw(st.sampled_from(["inplace", "leaf", "none"])),
        startup=Startup(draw(SECONDS), draw(SECONDS), draw(SECONDS)),
        wait=draw(SECONDS),
    )
    tier = Tier("cluster", "bb", "directory")
    return Drawn(Simulator(found), Placement(tier, files, capacity=1000))


def _role(made: Use | None) -> str:
    if made is None:
        return "input"
    return "output" if made.stage_out else "intermediate"


def executed(drawn: Drawn, mode: Mode) -> Execution:
    return drawn.simulator.execute(mode, demands_of(drawn.simulator.planned.work, 0))


@given(planned())
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


@given(planned())
def test_no_more_jobs_than_slots(drawn: Drawn) -> None:
    slots = drawn.simulator.planned.speeds.slots
    for mode in drawn.modes():
        done = executed(drawn, mode)
        for at, since in enumerate(done.started):
            if done.stopped[at] > since:
                others = zip(done.started, done.stopped, strict=True)
                assert sum(one <= since < end for one, end in others) <= slots


@given(planned())
def test_the_parts_add_up_to_the_makespan(drawn: Drawn) -> None:
    for mode in drawn.modes():
        done = executed(drawn, mode)
        assert sum(done.clock.seconds) == pytest.approx(done.makespan)
