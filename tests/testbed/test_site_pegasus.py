"""What a real Pegasus alone can do, under DAGMan and Slurm, all at the same time."""

from __future__ import annotations

import json
import shlex
import sqlite3
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from pegasus_bb.testbed.home import Home
from pegasus_bb.testbed.namespace import inside
from tests.end_to_end.conftest import expected
from tests.testbed.condor_desk import PERSISTENT, REAL, USER, Desk
from tests.testbed.condor_desk import expected as first_of
from tests.testbed.site_hands import Site

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


def desk_of(home: Home, name: str) -> Desk:
    return Desk(home, name, planner="pegasus")


def with_profiles(desk: Desk, jobs: str, **profiles: str) -> None:
    """Give jobs, by their ids, profiles of the namespace pegasus."""
    workflow = desk.document("workflow.yml")
    for job in workflow["jobs"]:
        if job["id"] in jobs:
            job["profiles"] = {"pegasus": profiles}
    desk.save("workflow.yml", workflow)


def comes_to_a_good_end(desk: Desk) -> None:
    done = desk.start("bb").end(TOGETHER)
    assert done.status == 0, done.err
    assert desk.content("bb") == expected()


def clusters_of_a_level(home: Home) -> None:
    desk = desk_of(home, "horizontal")
    with_profiles(desk, "BC", **{"clusters.size": "2"})
    words = ("--bb-mode", "persistent", "--cluster", "horizontal", "--cleanup", "leaf")
    submit = desk.planned("bb", *words)
    assert list(submit.glob("00/00/merge_mix_*.sub"))
    comes_to_a_good_end(desk)


def clusters_of_a_label(home: Home) -> None:
    desk = desk_of(home, "label")
    with_profiles(desk, "BCD", label="middle")
    words = ("--bb-mode", "persistent", "--cluster", "label", "--cleanup", "constraint")
    submit = desk.planned("bb", *words)
    assert list(submit.glob("00/00/merge_*.sub"))
    comes_to_a_good_end(desk)


def clusters_with_a_room_each(home: Home) -> None:
    """Slurm stages one space in and out for all tasks of a cluster."""
    desk = desk_of(home, "rooms")
    with_profiles(desk, "BC", label="middle")
    words = ("--bb-mode", "transient", "--cluster", "label", "--cleanup", "none")
    submit = desk.planned("bb", *words)
    comes_to_a_good_end(desk)
    landed = {file.stem for file in (submit / "bb" / "stage_out").glob("*.json")}
    assert "merge_middle" in landed
    assert landed.isdisjoint({"mix_B", "mix_C"})


def a_workflow_in_a_workflow(home: Home) -> None:
    """The inner one makes results of its own from what a job of the outer made."""
    desk = desk_of(home, "inner")
    inner = desk.document("workflow.yml")
    text = json.dumps(inner["jobs"]).replace('"d.dat"', '"i.dat"')
    jobs = json.loads(text.replace('"e.dat"', '"j.dat"'))
    jobs = [job for job in jobs if job["id"] != "A"]  # B and C read its a.dat
    desk.save("inner.yml", {**inner, "name": "inner", "jobs": jobs})
    replicas = desk.document("replicas.yml")
    pfns = [{"site": "local", "pfn": str(desk.work / "inner.yml")}]
    replicas["replicas"].append({"lfn": "inner.yml", "pfns": pfns})
    desk.save("replicas.yml", replicas)
    outer = desk.document("workflow.yml")
    uses = [{"lfn": lfn, "type": "input"} for lfn in ("inner.yml", "a.dat")]
    job = {"type": "pegasusWorkflow", "file": "inner.yml", "id": "SUB", "uses": uses}
    words = ["--output-sites", "local", "--output-dir", str(desk.results("bb"))]
    outer["jobs"].append({**job, "arguments": words})
    desk.save("workflow.yml", outer)
    desk.planned("bb", *PERSISTENT, "--bb-capacity", "64MiB")
    done = desk.start("bb").end(TOGETHER)
    assert done.status == 0, done.err
    found, outer_results = desk.content("bb"), expected()
    assert {name: found[name] for name in outer_results} == outer_results
    assert found["i.dat"] == outer_results["d.dat"]
    assert set(found) == {"d.dat", "e.dat", "i.dat", "j.dat"}


def ranks_under_srun(home: Home) -> None:
    desk = Desk(home, "mpi", 1, "pegasus")
    (desk.root / "mix.py").write_text(RANKS)
    (desk.root / "inputs" / "in.txt").write_text("salt\n")
    with_profiles(desk, "A", cores="2")
    desk.planned("bb", *PERSISTENT)
    done = desk.start("bb").end(TOGETHER)
    assert done.status == 0, done.err
    said = desk.content("bb")["a.dat"].decode().splitlines()
    assert [line.split(" in ")[0] for line in said] == ["0 of 2", "1 of 2"]
    [place] = {line.split(" in ")[1] for line in said}
    assert f"/{desk.reservation('bb')}_" in place
    assert place.endswith(" with salt")


def a_hooked_pegasus_plan_that_submits(home: Home) -> None:
    desk = Desk(home, "hooked", 1, "pegasus")
    words = ["--sites", "cluster", "--output-sites", "local", "--bb-poll", "2s"]
    words += ["--output-dir", str(desk.results("bb")), "--relative-submit-dir", "bb"]
    words += ["--dir", str(desk.root / "submit"), *PERSISTENT]
    line = shlex.join(["exec", "pegasus-plan", *words, "--submit", "workflow.yml"])
    planned = desk.ask("sh", "-c", HOOKED + line, timeout=TOGETHER)
    assert planned.status == 0, planned.err
    done = desk.start("bb").end(TOGETHER)
    assert done.status == 0, done.err
    assert "engine: dagman (it works on it already" in done.err
    assert desk.content("bb") == first_of(jobs=1)
    assert desk.plan_file("bb")["planner"].startswith("pegasus-plan 5.")


def the_plan_of_a_workflow_in_python(home: Home) -> None:
    desk = Desk(home, "api", 1, "pegasus")
    (desk.work / "api.py").write_text(API)
    (desk.work / "workflow.yml").unlink()
    words = [str(desk.root / "submit"), str(desk.results("bb"))]
    done = desk.ask("sh", "-c", HOOKED + PYTHON + shlex.join(words), timeout=TOGETHER)
    assert done.status == 0, done.err
    assert desk.content("bb") == first_of(jobs=1)


def a_result_that_is_registered(home: Home) -> None:
    """Java for HTCondor's own job, and curl for the input: it comes over http."""
    desk = Desk(home, "register", 1, "pegasus")
    workflow = desk.document("workflow.yml")
    for use in workflow["jobs"][0]["uses"]:
        if use["type"] == "output":
            use["registerReplica"] = True
    desk.save("workflow.yml", workflow)
    pfns = [{"site": "web", "pfn": f"http://127.0.0.1:{PORT}/in.txt"}]
    inputs = [{"lfn": "in.txt", "pfns": pfns}]
    desk.save("replicas.yml", {"pegasus": "5.0", "replicas": inputs})
    submit = desk.planned("bb", *PERSISTENT, "--bb-capacity", "64MiB")
    folder = str(desk.root / "inputs")
    server = subprocess.Popen(inside(home, ["python3", "-c", SERVE], USER, folder))
    done = desk.start("bb").end(TOGETHER)
    assert done.status == 0, done.err
    assert desk.content("bb") == first_of(jobs=1)
    assert server.wait(timeout=TOGETHER) == 0
    with sqlite3.connect(submit / "diamond-0.replicas.db") as catalog:
        rows = catalog.execute("SELECT lfn, pfn FROM rc_lfn NATURAL JOIN rc_pfn")
        assert rows.fetchall() == [("a.dat", f"file://{desk.results('bb')}/a.dat")]


STORIES = (
    clusters_of_a_level,
    clusters_of_a_label,
    clusters_with_a_room_each,
    a_workflow_in_a_workflow,
    ranks_under_srun,
    a_hooked_pegasus_plan_that_submits,
    the_plan_of_a_workflow_in_python,
    a_result_that_is_registered,
)


@pytest.fixture(scope="module")
def told(home: Home, planners: None) -> Iterator[dict[str, Future[None]]]:
    """They wait for their turns on a small machine, side by side."""
    submit_host = Site(home)
    try:
        with ThreadPoolExecutor(len(STORIES)) as pool:
            yield {story.__name__: pool.submit(story, home) for story in STORIES}
        assert not submit_host.buffers()
    finally:
        submit_host.run("root", "condor_rm", "-all")


@pytest.mark.parametrize("story", [story.__name__ for story in STORIES])
def test_on_a_buffer_runs(told: dict[str, Future[None]], story: str) -> None:
    told[story].result(timeout=2 * TOGETHER)
