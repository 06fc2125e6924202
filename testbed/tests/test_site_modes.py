"""A table of modes and tiers under DAGMan and Slurm, side by side. The other example is
that of test_site_lua.py."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from pegasus_bb_testbed.home import Home

from pegasus_bb.report.run_folder import read_run
from testbed.tests.slurm_site import SlurmSite
from testbed.tests.workflow_runner import PLANNERS, TIER, ExampleRunner, WorkflowRunner
from tests.support.user_site import expected

pytestmark = [pytest.mark.site]
NVME = {"name": "nvme", "backend": "node-local", "mount": "any", "granularity": "1MiB"}
MODES = ("persistent", "transient", "hybrid")
# declared bytes that make hybrid pay
RESULT = 40 << 20
OTHER = 1 << 20


@dataclass(frozen=True)
class Way:
    """A mode, the tiers it is given, and what is in the folders where jobs work."""

    mode: str
    tiers: tuple[dict[str, Any], ...]
    own: str = ""  # jobs that work in a place of their own
    place: str = ""


WAYS = {
    "disk": Way("transient", (NVME,), own="ABCDE", place="/nvme/"),
    "disk-beside": Way(
        "hybrid", ({**TIER, "granularity": "1KiB"}, NVME), "E", "/nvme/"
    ),
    "private": Way(
        "transient",
        ({**TIER, "name": "own", "access": "private"},),
        own="ABCDE",
        place="_private_scratch/run",
    ),
}


class Started:
    """The stories of a planner, all under way."""

    def __init__(self, site: SlurmSite, planner: str, pool: ThreadPoolExecutor) -> None:
        self.home, self.planner = site.home, planner
        self.example = self._example()
        self.runs = {
            mode: pool.submit(self._run_example, mode) for mode in ("off", *MODES)
        }
        self.ways = {name: pool.submit(self._run_way, name) for name in WAYS}

    def _example(self) -> ExampleRunner:
        """With declared sizes that make it pay to keep results apart."""
        example = ExampleRunner(self.home, "cybershake", self.planner)
        file = example.work / "workflow.yml"
        workflow = yaml.safe_load(file.read_text())
        for use in (use for job in workflow["jobs"] for use in job["uses"]):
            is_result = use["type"] == "output" and use.get("stageOut", True)
            use.pop("size", None)
            size = {"size": RESULT if is_result else OTHER}
            use["metadata"] = {**use.get("metadata", {}), **size}
        file.write_text(yaml.safe_dump(workflow, sort_keys=False))
        return example

    def _run_example(self, mode: str) -> None:
        words = ("--conf", "pegasus.properties", "--bb-mode", mode)
        self.example.planned(mode, *words)
        done = self.example.run_well(mode, *(("--engine", "local") * (mode == "off")))
        assert mode == "off" or "engine: dagman (a schedd takes jobs here)" in done.err

    def _run_way(self, name: str) -> WorkflowRunner:
        runner = WorkflowRunner(self.home, name, planner=self.planner)
        way = WAYS[name]
        (runner.root / "nvme").mkdir()
        with runner.edited("sites.yml") as sites:
            disk = {"path": str(runner.root / "nvme")}
            tiers = [{**tier, **(disk if tier is NVME else {})} for tier in way.tiers]
            sites["x-storage-tiers"]["cluster"] = tiers
        runner.give_to_user()
        runner.planned("bb", "--bb-mode", way.mode)
        runner.run_well("bb")
        return runner


@pytest.fixture(scope="module", params=PLANNERS)
def started(
    home: Home, planners: None, request: pytest.FixtureRequest
) -> Iterator[Started]:
    submit_host = SlurmSite(home)
    submit_host.inject("data_out delay=3\n")  # a child waits until results are back
    try:
        with ThreadPoolExecutor(20) as pool:
            yield Started(submit_host, request.param, pool)
        assert not submit_host.buffers()
        assert not submit_host.job_buffers()
    finally:
        submit_host.run("root", "condor_rm", "-all")


@pytest.mark.parametrize("mode", MODES)
def test_an_example_gives_what_it_gives_on_the_pfs(started: Started, mode: str) -> None:
    for each in ("off", mode):
        started.runs[each].result(timeout=900)
    assert started.example.content(mode) == started.example.content("off") != {}


def test_an_example_leaves_nothing_and_hybrid_reserves_less(started: Started) -> None:
    for mode in ("off", *MODES):
        started.runs[mode].result(timeout=900)
    example = started.example
    assert not [names for _, _, names in os.walk(example.root / "pfs") if names]
    off, bb = (str(example.submit_dir(run)) for run in ("off", "persistent"))
    report = example.bb("report", "--pfs", off, "--bb", bb)
    assert report.status == 0, report.err
    folder = example.submit_dir("hybrid") / "bb"
    assert came_back(folder) == with_own_reservation(folder) != set()
    measured = [reserved(example.submit_dir(run)) for run in ("hybrid", "persistent")]
    assert measured == sorted(measured)


def came_back(folder: Path) -> set[str]:
    """The nodes whose results have landed."""
    files = (file.name for file in folder.glob("stage_out/*.json"))
    return {name.partition(".")[0] for name in files}


def with_own_reservation(folder: Path) -> set[str]:
    files = folder.glob("nodes/*.json")
    return {
        file.stem for file in files if "reservation" in json.loads(file.read_text())
    }


def reserved(submit: Path) -> float:
    """Bytes x hours, as they were measured."""
    found = read_run(submit).reserved
    assert found is not None
    return found


@pytest.mark.parametrize("name", WAYS)
def test_a_job_works_in_the_place_that_its_tier_gives_it(
    started: Started, name: str
) -> None:
    runner = started.ways[name].result(timeout=900)
    way = WAYS[name]
    assert runner.content("bb") == expected()
    places = {job: task["cwd"] for job, task in runner.tasks("bb").items()}
    own = "".join(sorted(job for job, place in places.items() if way.place in place))
    assert own == way.own
    assert list((runner.root / "nvme").iterdir()) == []
