"""Whatever the workflow, the mode, the clean-up and the order of its nodes: what is on
the tier at once is never more than was reserved.

Without headroom and rounding, so that one byte too many is seen. What nodes bring and
remove is read from their job lists, as the run does it.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.decide.decision import PlacementDecision, PlanningInput
from pegasus_bb.decide.place_files import decide
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.planner.builtin.executable import BuiltInExecutable, PlannedJob
from pegasus_bb.planner.builtin.planner import BuiltInPlanner
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.reading import read
from pegasus_bb.planner.run_plan import plan_run
from tests.planner.orders import any_order
from tests.support.any_workflow import workflows

Data = dict[str, Any]
SEEDS = st.integers(0, 1 << 30)
PROGRAM = b"#" * 7


def write_site(folder: Path, jobs: list[Data]) -> None:
    """Catalogs with a tier that gives out single bytes, and one staged program."""

    def place(kind: str) -> Data:
        path = f"{folder}/{kind}"
        server = {"url": f"file://{path}", "operation": "all"}
        return {"type": kind, "path": path, "fileServers": [server]}

    (folder / "program").write_bytes(PROGRAM)
    pfn = {"name": "cluster", "pfn": f"{folder}/program"}
    tier = {"name": "bb", "backend": "directory", "path": f"{folder}/fast"}
    catalogs: dict[str, Data] = {
        "workflow": {"name": "any", "jobs": jobs, "jobDependencies": []},
        "sites": {
            "sites": [
                {"name": "local", "directories": [place("localStorage")]},
                {"name": "cluster", "directories": [place("sharedScratch")]},
            ],
            "x-storage-tiers": {"cluster": [{**tier, "granularity": 1}]},
        },
        "transformations": {
            "transformations": [
                {"name": "there", "sites": [{**pfn, "type": "installed"}]},
                {"name": "staged", "sites": [{**pfn, "type": "stageable"}]},
            ]
        },
        "replicas": {
            "replicas": [
                {
                    "lfn": f"in{number}",
                    "metadata": {"size": 10 + 20 * number},
                    "pfns": [{"site": "local", "pfn": f"{folder}/in{number}"}],
                }
                for number in range(3)
            ]
        },
    }
    for name, data in catalogs.items():
        (folder / f"{name}.yml").write_text(json.dumps({"pegasus": "5.0", **data}))


def options(folder: Path, mode: str, cleanup: str, capacity: int) -> PlanOptions:
    """``capacity`` in bytes; 0 for as much as all files need."""
    said = {"mode": mode, "headroom": "0", "capacity": str(capacity or "auto")}
    return PlanOptions(
        Path("workflow.yml"),
        folder,
        sites=("cluster",),
        output_sites=("local",),
        cleanup=cleanup,
        bb_options={f"pegasus.bb.{key}": value for key, value in said.items()},
    )


class Planned(NamedTuple):
    """What planning has read and decided."""

    options: PlanOptions
    given: PlanningInput
    decision: PlacementDecision

    def executable(self) -> BuiltInExecutable:
        run = plan_run(self.options, self.given, self.decision)
        return BuiltInPlanner(self.options).in_memory(self.given, run)


def planned(options: PlanOptions) -> Planned:
    given = read(options)
    decision = decide(given)
    assert decision is not None
    return Planned(options, given, decision)


class Shared:
    """The files on the reservation that all jobs share, while a run goes on."""

    def __init__(self, placement: Placement) -> None:
        self.placement = placement
        self.here: dict[str, int] = {}

    def run(self, executable: BuiltInExecutable, random: Random) -> None:
        """Its nodes start and end in some order that the DAG allows."""
        for name, starts in any_order(executable.dag, random):
            node = executable.jobs[name]
            if starts:
                self.begin(node)
            else:
                self.end(node, executable.scratch)

    def begin(self, node: PlannedJob) -> None:
        """From its start on what a node brings is there."""
        if node.job is not None:
            made = [use.lfn for use in node.job.uses if use.kind == "output"]
            self._bring(made)
        for entry in node.entries or []:
            if entry["type"] == "transfer" and entry["linkage"] == "input":
                self._bring([entry["lfn"]])
        assert sum(self.here.values()) <= self.placement.capacity, node.name

    def end(self, node: PlannedJob, scratch: str) -> None:
        """Only when it has ended what it removes is gone."""
        for entry in node.entries or []:
            if entry["type"] == "remove":
                url = entry["target"]["url"]
                self.here.pop(url.removeprefix(f"file://{scratch}/"), None)

    def _bring(self, lfns: list[str]) -> None:
        files = self.placement.files
        self.here.update((n, files[n].size or 0) for n in lfns if files[n].tier == "bb")


def check_job_reservations(workflow: Workflow, placement: Placement) -> None:
    """A room has all that its job finds and makes there, until the job has ended."""
    for job, room in placement.job_reservations.items():
        uses = {use.lfn for use in workflow.jobs[job].uses}
        there = {*room.stage_in, *room.stage_out, *room.share}
        assert there - {"staged"} <= uses
        made = {u.lfn for u in workflow.jobs[job].uses if u.kind == "output"}
        assert made <= {*there, *room.write}
        assert sum(placement.files[n].size or 0 for n in there) <= room.capacity


@pytest.mark.parametrize("cleanup", ["none", "leaf", "inplace"])
@pytest.mark.parametrize("mode", ["persistent", "transient", "hybrid"])
@given(
    jobs=workflows("there", "staged"),
    short=st.integers(0, 100),
    seed=SEEDS,
)
def test_no_order_of_a_run_has_more_on_the_tier_than_was_reserved(
    mode: str, cleanup: str, jobs: list[Data], short: int, seed: int
) -> None:
    """``short``: per cent of all files that are given; from 50 on, all they need."""
    random = Random(seed)
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        write_site(folder, jobs)
        made = planned(options(folder, mode, cleanup, 0))
        if mode == "persistent" and short < 50:
            given = max(1, made.decision.placement.need * short // 100)
            made = planned(options(folder, mode, cleanup, given))
        executable = made.executable()
    placement = made.decision.placement
    check_job_reservations(made.given.workflow, placement)
    if mode == "transient":
        return  # nothing is there but in rooms
    for _ in range(4):
        Shared(placement).run(executable, random)
