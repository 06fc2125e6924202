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
from testbed.tests.workflow_runner import expected as first_jobs
from tests.support.chains import INPUT, Chains, watched
from tests.support.user_site import expected

pytestmark = [pytest.mark.site]
NVME = {"name": "nvme", "backend": "node-local", "mount": "any", "granularity": "1MiB"}
MODES = ("persistent", "transient", "hybrid")
CHAINS = Chains(width=2, rungs=3)
CAPACITY = 2 << 20  # of 2.4 MB; three levels have 1.8 MB
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


class ChainsRunner(WorkflowRunner):
    """Has the chains of tests/end_to_end."""

    def write(self) -> None:
        for name, data in CHAINS.inputs().items():
            (self.root / "inputs" / name).write_bytes(data)
        super().write()
        self.save("workflow.yml", CHAINS.workflow())


class Started:
    """The stories of a planner, all under way."""

    def __init__(self, site: SlurmSite, planner: str, pool: ThreadPoolExecutor) -> None:
        self.site, self.home, self.planner = site, site.home, planner
        self.phases = pool.submit(self._run_in_phases)
        self.example = self._example()
        self.runs = {
            mode: pool.submit(self._run_example, mode) for mode in ("off", *MODES)
        }
        self.ways = {name: pool.submit(self._run_way, name) for name in WAYS}
        self.halfway = {
            mode: pool.submit(fail_halfway, site, mode, planner) for mode in MODES[:2]
        }

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
        sites = runner.document("sites.yml")
        disk = {"path": str(runner.root / "nvme")}
        tiers = [{**tier, **(disk if tier is NVME else {})} for tier in way.tiers]
        sites["x-storage-tiers"]["cluster"] = tiers
        runner.save("sites.yml", sites)
        runner.give_to_user()
        runner.planned("bb", "--bb-mode", way.mode)
        runner.run_well("bb")
        return runner

    def _run_in_phases(self) -> None:
        """All files together are more than the buffer, which is never filled."""
        runner = ChainsRunner(self.home, "phases", planner=self.planner)
        capacity = ("--bb-mode", "persistent", "--bb-capacity", str(CAPACITY))
        submit = runner.planned("bb", *capacity)
        phases = json.loads((submit / "bb" / "phases.json").read_text())
        assert phases["limit"] == CAPACITY
        assert phases["barriers"]
        run = runner.start("bb")
        name = runner.reservation("bb")
        buffer = run.until(lambda: self.site.folder_of(name), 500)
        with watched(buffer, every=0.05) as most:
            done = run.end(900)
        assert done.status == 0, done.err
        assert runner.content("bb") == CHAINS.results()
        assert 2 * INPUT < most[0] <= CAPACITY


def fail_halfway(site: SlurmSite, mode: str, planner: str) -> None:
    """A task fails; the second run goes on where the first one stopped."""
    runner = WorkflowRunner(site.home, f"halfway-{mode}", 2, planner)
    submit = runner.planned("bb", "--bb-mode", mode, "--cleanup", "none")
    runner.trouble.write_text("b.dat")
    failed = runner.run_to_the_end("bb")
    assert failed.status == 80, failed.err
    assert "mix_B: its task B failed (exit code 1)" in failed.err
    assert "| mix: the disk on my desk is full" in failed.err
    assert "rescue file: diamond-0.dag.rescue001" in failed.err
    told = runner.bb("status", str(submit)).out
    assert "stopped; `pegasus-bb run` continues it" in told
    if mode == "persistent":
        assert runner.reservation("bb") in site.buffers()
    runner.trouble.unlink()
    ran = runner.run_again("bb")
    assert ("mix_A" in ran, "mix_B" in ran) == (False, True)
    assert runner.content("bb") == first_jobs(jobs=2)


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


def test_the_directive_of_a_private_reservation(started: Started) -> None:
    runner = started.ways["private"].result(timeout=900)
    (lines,) = {f.read_text() for f in runner.submit_dir("bb").glob("bb/nodes/*A.bbf")}
    assert lines.splitlines() == [
        "#DW jobdw capacity=1048576 access_mode=private type=scratch pool=wlm_pool"
    ]


def test_in_phases_the_buffer_is_never_filled(started: Started) -> None:
    started.phases.result(timeout=900)


@pytest.mark.parametrize("mode", MODES[:2])
def test_a_run_that_fails_halfway_goes_on_later(started: Started, mode: str) -> None:
    started.halfway[mode].result(timeout=900)
