"""No file is removed before its last use, whatever the workflow and the order."""

from __future__ import annotations

from copy import deepcopy
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from pegasus_bb.planner.builtin.executable import BuiltInExecutable
from pegasus_bb.planner.seal.view import View, reachable
from tests.planner.conftest import replica_catalog
from tests.planner.orders import any_order
from tests.support.any_workflow import workflows

Data = dict[str, Any]
QUIET = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def removed(planned: BuiltInExecutable) -> dict[str, str]:
    """LFN -> the node that removes it; a file is never removed twice."""
    found: dict[str, str] = {}
    for job in planned.jobs.values():
        for entry in job.entries or []:
            target = entry.get("target", {})
            if entry["type"] == "remove" and target["recursive"] == "False":
                lfn = target["url"].removeprefix(f"file://{planned.scratch}/")
                assert lfn not in found
                found[lfn] = job.name
    return found


def users(planned: BuiltInExecutable) -> dict[str, set[str]]:
    """LFN -> every node that makes, brings, reads or delivers it."""
    found: dict[str, set[str]] = {}
    for job in planned.jobs.values():
        uses = [use.lfn for use in job.job.uses] if job.job else []
        uses += [part.lfn for part in job.program.staged] if job.job else []
        uses += [e["lfn"] for e in job.entries or [] if e["type"] == "transfer"]
        for lfn in uses:
            found.setdefault(lfn, set()).add(job.name)
    return found


def parents_of(planned: BuiltInExecutable) -> dict[str, list[str]]:
    return View(planned.dag, set(), "cori", "").parents


@pytest.fixture
def any_runner(runner: Any) -> Any:
    runner.replicas = replica_catalog("in0", "in1", "in2")
    return runner


def with_jobs(any_runner: Any, jobs: list[Data]) -> Any:
    """A copy of the runner for one example."""
    runner = deepcopy(any_runner)
    runner.jobs = jobs
    return runner


@pytest.mark.parametrize("mode", ["off", "persistent"])
@QUIET
@given(jobs=workflows("split", "count", "merge"))
def test_a_file_goes_only_after_every_node_that_uses_it(
    any_runner: Any, mode: str, jobs: list[Data]
) -> None:
    runner = with_jobs(any_runner, jobs)
    if mode == "persistent":
        runner.persistent()
    planned = runner.plan()
    parents = parents_of(planned)
    gone = removed(planned)
    for lfn, nodes in users(planned).items():
        before = reachable([gone[lfn]], parents)  # in inplace every file goes some day
        assert nodes <= before, f"{lfn} would go before {nodes - before} is done"


@QUIET
@given(jobs=workflows("split", "count", "merge"))
def test_every_job_finds_its_inputs_and_its_folder(
    any_runner: Any, jobs: list[Data]
) -> None:
    planned = with_jobs(any_runner, jobs).plan()
    parents = parents_of(planned)
    writers: dict[str, str] = {}
    for job in planned.jobs.values():
        for use in job.job.outputs() if job.job else ():
            writers[use.lfn] = job.name
        for entry in job.entries or []:
            if entry.get("linkage") == "input":
                writers[entry["lfn"]] = job.name
    for job in planned.jobs.values():
        before = reachable([job.name], parents)
        assert "create_dir_demo_0_cori" in before
        needs = [use.lfn for use in job.job.inputs()] if job.job else []
        needs += [part.lfn for part in job.program.staged] if job.job else []
        needs += [e["lfn"] for e in job.entries or [] if e.get("linkage") == "output"]
        for lfn in needs:
            assert writers[lfn] in before, f"{job.name} would not find {lfn}"


@QUIET
@given(jobs=workflows("split", "count", "merge"))
def test_the_folder_goes_last_and_there_is_no_circle(
    any_runner: Any, jobs: list[Data]
) -> None:
    runner = with_jobs(any_runner, jobs)
    runner.change(cleanup="leaf")
    planned = runner.plan()
    assert not removed(planned)
    before = reachable(["cleanup_demo_0_cori"], parents_of(planned))
    assert before == planned.jobs.keys()
    started = {name for name, starts in any_order(planned.dag, Random(0)) if starts}
    assert started == planned.jobs.keys()


@pytest.mark.parametrize("cleanup", ["leaf", "inplace"])
def test_results_without_an_output_site_are_kept(runner: Any, cleanup: str) -> None:
    runner.change(cleanup=cleanup, output_sites=())
    planned = runner.plan()
    assert "cleanup_demo_0_cori" not in planned.jobs
    assert "out.txt" not in removed(planned)
    assert any("results stay in" in note for note in planned.notes)
