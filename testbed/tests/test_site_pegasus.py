"""What a real Pegasus alone can do, under DAGMan and Slurm, all at the same time."""

from __future__ import annotations

import json
import shlex
import sqlite3
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from pegasus_bb_testbed.home import Home
from pegasus_bb_testbed.namespace import inside

from testbed.tests.slurm_site import SlurmSite
from testbed.tests.workflow_runner import PERSISTENT, REAL, USER, WorkflowRunner
from testbed.tests.workflow_runner import expected as first_of
from tests.support.user_site import expected

pytestmark = [pytest.mark.site, *REAL]

API = """\
import sys
from Pegasus.api import File, Job, Workflow
job = Job("mix", _id="A").add_args("a.dat", "in.txt").add_inputs(File("in.txt"))
job.add_outputs(File("a.dat"), register_replica=False)
workflow = Workflow("diamond").add_jobs(job)
said = {"mode": "persistent", "capacity": "64MiB", "poll": "2s"}
said = {f"pegasus.bb.{key}": value for key, value in said.items()}
workflow.plan(sites=["cluster"], output_sites=["local"], dir=sys.argv[1],
              relative_submit_dir="bb", output_dir=sys.argv[2], submit=True, **said)
workflow.wait()
"""
# A task of two ranks, each of which says where it stands.
RANKS = """#!/bin/sh
say='echo $SLURM_PROCID of $SLURM_NTASKS in $PWD with $(cat in.txt)'
srun sh -c "$say > part.\\$SLURM_PROCID"
cat part.0 part.1 > a.dat
"""
PORT = 8765
# Ends with the one request that it waits for, or when it has waited for long.
SERVE = f"""import http.server as h
server = h.HTTPServer(("127.0.0.1", {PORT}), h.SimpleHTTPRequestHandler)
server.timeout = 500
server.handle_request()
"""
TOGETHER = 500.0  # seconds, for all of them side by side
HOOKED = 'eval "$(pegasus-bb hook)"; '
PYTHON = (
    "PYTHONPATH=$(pegasus-config --python):$(pegasus-config --python-externals)"
    ' exec "$PEGASUS_PYTHON" api.py '
)


def with_profiles(runner: WorkflowRunner, jobs: str, profiles: dict[str, str]) -> None:
    """Give jobs, by their ids, profiles of the namespace pegasus."""
    workflow = runner.document("workflow.yml")
    for job in workflow["jobs"]:
        if job["id"] in jobs:
            job["profiles"] = {"pegasus": profiles}
    runner.save("workflow.yml", workflow)


def run_clusters(
    runner: WorkflowRunner, jobs: str, profiles: dict[str, str], *words: str
) -> Path:
    """Jobs are clustered by their profiles; the submit directory."""
    with_profiles(runner, jobs, profiles)
    submit = runner.planned("bb", *words)
    assert list(submit.glob("00/00/merge_*.sub"))
    runner.run_well("bb")
    assert runner.content("bb") == expected()
    return submit


def clusters_of_a_label(home: Home) -> None:
    words = ("--bb-mode", "persistent", "--cluster", "label", "--cleanup", "constraint")
    runner = WorkflowRunner(home, "label", planner="pegasus")
    run_clusters(runner, "BCD", {"label": "middle"}, *words)


def clusters_with_a_reservation_each(home: Home) -> None:
    """Slurm stages one space in and out for all tasks of a cluster."""
    words = ("--bb-mode", "transient", "--cluster", "label", "--cleanup", "none")
    runner = WorkflowRunner(home, "reservations", planner="pegasus")
    submit = run_clusters(runner, "BC", {"label": "middle"}, *words)
    came_back = {file.stem for file in (submit / "bb" / "stage_out").glob("*.json")}
    assert "merge_middle" in came_back
    assert came_back.isdisjoint({"mix_B", "mix_C"})


def with_inner_workflow(home: Home, name: str, *own: str) -> WorkflowRunner:
    """The inner one makes results of its own from what a job of the outer made.
    ``own``: further words of its planning."""
    runner = WorkflowRunner(home, name, planner="pegasus")
    inner = runner.document("workflow.yml")
    text = json.dumps(inner["jobs"]).replace('"d.dat"', '"i.dat"')
    jobs = json.loads(text.replace('"e.dat"', '"j.dat"'))
    jobs = [job for job in jobs if job["id"] != "A"]  # B and C read its a.dat
    runner.save("inner.yml", {**inner, "name": "inner", "jobs": jobs})
    replicas = runner.document("replicas.yml")
    pfns = [{"site": "local", "pfn": str(runner.work / "inner.yml")}]
    replicas["replicas"].append({"lfn": "inner.yml", "pfns": pfns})
    runner.save("replicas.yml", replicas)
    outer = runner.document("workflow.yml")
    uses = [{"lfn": lfn, "type": "input"} for lfn in ("inner.yml", "a.dat")]
    job = {"type": "pegasusWorkflow", "file": "inner.yml", "id": "SUB", "uses": uses}
    words = ["--output-sites", "local", "--output-dir", str(runner.results("bb"))]
    outer["jobs"].append({**job, "arguments": [*words, *own]})
    runner.save("workflow.yml", outer)
    return runner


def a_workflow_in_a_workflow(home: Home) -> None:
    """It has properties and a catalog of its own."""
    runner = with_inner_workflow(home, "inner", "--conf", "inner.properties")
    line = f"pegasus.catalog.transformation.file = {runner.work}/inner-programs.yml"
    (runner.work / "inner.properties").write_text(f"{line}\n")
    runner.save("inner-programs.yml", runner.document("transformations.yml"))
    runner.planned("bb", *PERSISTENT, "--bb-capacity", "64MiB")
    runner.run_well("bb")
    found = runner.content("bb")
    outer_results = expected()
    assert {name: found[name] for name in outer_results} == outer_results
    assert found["i.dat"] == outer_results["d.dat"]
    assert set(found) == {"d.dat", "e.dat", "i.dat", "j.dat"}


def a_workflow_of_workflows_alone(home: Home) -> None:
    """No job of the outer one would bring a folder and the gate."""
    runner = with_inner_workflow(home, "alone")
    outer = runner.document("workflow.yml")
    jobs = [job for job in outer["jobs"] if job["id"] != "SUB"]
    runner.save("inner.yml", {**outer, "name": "inner", "jobs": jobs})
    (sub,) = (job for job in outer["jobs"] if job["id"] == "SUB")
    sub["uses"] = [{"lfn": lfn, "type": "input"} for lfn in ("inner.yml", "in.txt")]
    runner.save("workflow.yml", {**outer, "jobs": [sub], "jobDependencies": []})
    runner.planned("bb", *PERSISTENT, "--bb-capacity", "64MiB")
    runner.run_well("bb")
    assert runner.content("bb") == expected()


def clusters_of_an_inner_workflow(home: Home) -> None:
    """HTCondor would start them in a folder that only the launcher finds."""
    runner = with_inner_workflow(home, "inner-clusters", "--cluster", "horizontal")
    inner = runner.document("inner.yml")
    for job in inner["jobs"]:
        if job["id"] in "BC":
            job["profiles"] = {"pegasus": {"clusters.size": "2"}}
    runner.save("inner.yml", inner)
    submit = runner.planned("bb", *PERSISTENT, "--bb-capacity", "64MiB")
    runner.run_well("bb")
    assert list(submit.rglob("merge_*.sub"))
    assert runner.content("bb")["i.dat"] == expected()["d.dat"]


def an_inner_workflow_that_fails(home: Home) -> None:
    """`run` names the inner node that failed, with its words."""
    runner = with_inner_workflow(home, "inner-fails")
    runner.trouble.write_text("j.dat")
    runner.planned("bb", *PERSISTENT, "--bb-capacity", "64MiB", "-Ddagman.retry=0")
    failed = runner.run_to_the_end("bb")
    assert failed.status == 80, failed.err
    assert "mix_E" in failed.err
    assert "| mix: the disk on my desk is full" in failed.err
    runner.trouble.unlink()
    runner.run_well("bb")


def ranks_under_srun(home: Home) -> None:
    runner = WorkflowRunner(home, "mpi", 1, "pegasus")
    (runner.root / "mix.py").write_text(RANKS)
    (runner.root / "inputs" / "in.txt").write_text("salt\n")
    with_profiles(runner, "A", {"cores": "2"})
    runner.planned("bb", *PERSISTENT)
    runner.run_well("bb")
    said = runner.content("bb")["a.dat"].decode().splitlines()
    assert [line.split(" in ")[0] for line in said] == ["0 of 2", "1 of 2"]
    [place] = {line.split(" in ")[1] for line in said}
    assert f"/{runner.reservation('bb')}_" in place
    assert place.endswith(" with salt")


def a_hooked_pegasus_plan_that_submits(home: Home) -> None:
    runner = WorkflowRunner(home, "hooked", 1, "pegasus")
    words = ["--sites", "cluster", "--output-sites", "local", "--bb-poll", "2s"]
    words += ["--output-dir", str(runner.results("bb")), "--relative-submit-dir", "bb"]
    words += ["--dir", str(runner.root / "submit"), *PERSISTENT]
    line = shlex.join(["exec", "pegasus-plan", *words, "--submit", "workflow.yml"])
    planned = runner.ask("sh", "-c", HOOKED + line, timeout=TOGETHER)
    assert planned.status == 0, planned.err
    done = runner.run_well("bb")
    assert "engine: dagman (it works on it already" in done.err
    assert runner.content("bb") == first_of(jobs=1)
    assert runner.plan_file("bb")["planner"].startswith("pegasus-plan 5.")


def the_plan_of_a_workflow_in_python(home: Home) -> None:
    runner = WorkflowRunner(home, "api", 1, "pegasus")
    (runner.work / "api.py").write_text(API)
    (runner.work / "workflow.yml").unlink()
    words = [str(runner.root / "submit"), str(runner.results("bb"))]
    done = runner.ask("sh", "-c", HOOKED + PYTHON + shlex.join(words), timeout=TOGETHER)
    assert done.status == 0, done.err
    assert runner.content("bb") == first_of(jobs=1)


def a_result_that_is_registered(home: Home) -> None:
    """Java for HTCondor's own job, and curl for the input: it comes over http."""
    runner = WorkflowRunner(home, "register", 1, "pegasus")
    workflow = runner.document("workflow.yml")
    for use in workflow["jobs"][0]["uses"]:
        if use["type"] == "output":
            use["registerReplica"] = True
    runner.save("workflow.yml", workflow)
    pfns = [{"site": "web", "pfn": f"http://127.0.0.1:{PORT}/in.txt"}]
    inputs = [{"lfn": "in.txt", "pfns": pfns}]
    runner.save("replicas.yml", {"pegasus": "5.0", "replicas": inputs})
    submit = runner.planned("bb", *PERSISTENT, "--bb-capacity", "64MiB")
    folder = str(runner.root / "inputs")
    server = subprocess.Popen(inside(home, ["python3", "-c", SERVE], USER, folder))
    runner.run_well("bb")
    assert runner.content("bb") == first_of(jobs=1)
    assert server.wait(timeout=TOGETHER) == 0
    with sqlite3.connect(submit / "diamond-0.replicas.db") as catalog:
        rows = catalog.execute("SELECT lfn, pfn FROM rc_lfn NATURAL JOIN rc_pfn")
        assert rows.fetchall() == [("a.dat", f"file://{runner.results('bb')}/a.dat")]


STORIES = (
    clusters_of_a_label,
    clusters_with_a_reservation_each,
    clusters_of_an_inner_workflow,
    a_workflow_in_a_workflow,
    a_workflow_of_workflows_alone,
    an_inner_workflow_that_fails,
    ranks_under_srun,
    a_hooked_pegasus_plan_that_submits,
    the_plan_of_a_workflow_in_python,
    a_result_that_is_registered,
)


@pytest.fixture(scope="module")
def started(home: Home, planners: None) -> Iterator[dict[str, Future[None]]]:
    """They wait for their turns on a small machine, side by side."""
    submit_host = SlurmSite(home)
    try:
        with ThreadPoolExecutor(len(STORIES)) as pool:
            yield {story.__name__: pool.submit(story, home) for story in STORIES}
        assert not submit_host.buffers()
    finally:
        submit_host.run("root", "condor_rm", "-all")


@pytest.mark.parametrize("story", [story.__name__ for story in STORIES])
def test_on_a_buffer_runs(started: dict[str, Future[None]], story: str) -> None:
    started[story].result(timeout=2 * TOGETHER)
