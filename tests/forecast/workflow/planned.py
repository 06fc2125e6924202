"""A user's small workflow, ready to be simulated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from pegasus_bb.forecast.demands.demand import Demand, DemandRange
from pegasus_bb.forecast.workflow.simulator import PlannedWorkflow, Simulator
from pegasus_bb.forecast.workflow.workload import workload
from pegasus_bb.model.graph import build_graph
from pegasus_bb.model.history import History, Startup
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.speeds import Speed, Speeds
from tests.support.user_files import User, job, own_profile, sized, use

MB = 1_000_000
PFS = Speed(read=100 * MB, write=50 * MB, job_read=20 * MB, job_write=10 * MB)
BB = Speed(read=1000 * MB, write=1000 * MB, job_read=200 * MB, job_write=200 * MB)
AT_ONCE = Startup(queue=0.0, job=0.0, own=0.0)
A_MINUTE = DemandRange(Demand(60.0), Demand(60.0))


def speeds(slots: int = 100, **places: Speed) -> Speeds:
    return Speeds(slots, {"pfs": PFS, "bb": BB, **places}, "here")


def fan(width: int) -> list[dict[str, Any]]:
    """One job writes 100 MB, ``width`` jobs read it and write 10 MB each."""
    first = job(
        "ID0",
        use("in", "input", **sized(200 * MB)),
        use("mid", "output", stageOut=False, **sized(100 * MB)),
    )
    readers = [
        job(
            f"ID{n}",
            use("mid", "input"),
            use(f"out{n}", "output", **sized(10 * MB)),
        )
        for n in range(1, width + 1)
    ]
    return [first, *readers]


def planned(
    folder: Path,
    jobs: list[dict[str, Any]],
    fast: Speeds | None = None,
    history: History | None = None,
    tier: dict[str, Any] | None = None,
    **more: Any,
) -> tuple[Simulator, Placement]:
    """Without a ``history`` every job computes for a minute. ``more`` is what
    PlannedWorkflow has beside; nothing takes time to start."""
    user = User(folder, jobs=jobs, tier={"capacity": "1TiB", **(tier or {})})
    workflow, _, _ = user.read()
    placement = user.decide()
    graph = build_graph(workflow)
    found = fast or speeds()
    known = history or History()
    work = workload(workflow, graph, placement.files, found, known, profile=own_profile)
    if history is None:
        loads = (replace(load, demand=A_MINUTE) for load in work.loads)
        work = replace(work, loads=tuple(loads))
    said = {"startup": AT_ONCE, "cleanup": "none", **more}
    whole = PlannedWorkflow(work=work, speeds=found, files=placement.files, **said)
    return Simulator(whole), replace(placement, capacity=1000 * MB)
