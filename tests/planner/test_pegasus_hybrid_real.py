"""Mode hybrid through a real pegasus-plan, and runs of its plans."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.dag.reader import read_dag
from tests.planner.real_pegasus import MARKS, WorkflowRunner

pytestmark = MARKS
SIZES = {"in.txt": 20_000, "mid.txt": 60_000, "out.txt": 60_000}


def with_sizes(runner: WorkflowRunner, **tier: Any) -> WorkflowRunner:
    """Sizes of all files are declared, and granules are as small as these."""
    sites = json.loads((runner.work / "sites.yml").read_text())
    known = {**sites["x-storage-tiers"]["cori"][0], "granularity": "1KiB"}
    known["capacity"] = "auto"
    sites["x-storage-tiers"]["cori"] = [{**known, **tier}]
    (runner.work / "sites.yml").write_text(json.dumps(sites))
    workflow = json.loads((runner.work / "workflow.yml").read_text())
    for job in workflow["jobs"]:
        for use in job["uses"]:
            use["metadata"] = {"size": SIZES[use["lfn"]]}
    (runner.work / "workflow.yml").write_text(json.dumps(workflow))
    return runner


@pytest.fixture
def runner(tmp_path: Path) -> WorkflowRunner:
    return with_sizes(WorkflowRunner(tmp_path))


@pytest.fixture
def slurm(tmp_path: Path) -> WorkflowRunner:
    """Behind Slurm, with batch arguments of the site's."""
    runner = WorkflowRunner(tmp_path, "glite")
    sites = json.loads((runner.work / "sites.yml").read_text())
    sites["sites"][1]["profiles"]["pegasus"]["glite.arguments"] = "--qos=fast"
    sites["x-storage-tiers"]["cori"] = [{"name": "bb"}]
    (runner.work / "sites.yml").write_text(json.dumps(sites))
    return with_sizes(runner, backend="datawarp")


def plan(runner: WorkflowRunner, *words: str) -> Path:
    return runner.plan("r", "--bb-poll", "1s", *words, mode="hybrid")


def test_it_plans_and_runs_and_both_reservations_are_given_back(
    runner: WorkflowRunner,
) -> None:
    submit = plan(runner)
    runner.call(sys.executable, "-m", "pegasus_bb", "run", str(submit))
    assert (runner.work / "out" / "out.txt").read_text() == "hello\n"
    assert [p for p in (runner.work / "fast").iterdir() if p.is_dir()] == []
    notes = [p.name for p in (submit / "bb" / "stage_out").glob("*.json")]
    assert notes == ["cat1_ID2.json"]
    lines = (runner.root / "ledger.jsonl").read_text().splitlines()
    events = [json.loads(line)["event"] for line in lines]
    assert sorted(events) == ["released", "released", "requested", "requested"]


def test_the_dag_has_the_gate_and_one_job_that_waits_for_its_results(
    runner: WorkflowRunner,
) -> None:
    submit = plan(runner)
    dag = read_dag(submit / "demo-0.dag")
    own = f"{submit}/bb/bin"
    waits = {
        name
        for name, node in dag.nodes.items()
        if node.post and node.post.executable == f"{own}/await_stage_out"
    }
    assert waits == {"cat1_ID2"}
    pre = dag.nodes["create_dir_demo_0_cori"].pre
    assert pre is not None
    assert pre.executable == f"{own}/gate"
    assert json.loads((submit / "bb/plan.json").read_text())["mode"] == "hybrid"


def test_an_input_that_is_read_once_stays_on_the_pfs(runner: WorkflowRunner) -> None:
    submit = plan(runner)
    files = json.loads((submit / "bb/placement.json").read_text())["files"]
    assert files["in.txt"]["tier"] == files["out.txt"]["tier"] == "pfs"
    assert files["mid.txt"]["tier"] == "bb"


def test_under_slurm_a_job_with_a_room_names_both_in_one_file(
    slurm: WorkflowRunner,
) -> None:
    submit = plan(slurm)
    own = (submit / "00/00/cat1_ID2.sub").read_text()
    assert f"--qos=fast --bbf={submit}/bb/nodes/ID2.bbf" in own
    assert own.count("--bbf=") == 1
    lines = (submit / "bb/nodes/ID2.bbf").read_text().splitlines()
    words = ["jobdw", "persistentdw", "stage_out"]
    assert [line.split()[1] for line in lines] == words
    shared = json.loads((submit / "bb/request.json").read_text())["name"]
    assert lines[1] == f"#DW persistentdw name={shared}"
    other = (submit / "00/00/cat1_ID1.sub").read_text()
    assert f"--qos=fast --bbf={submit}/bb/use.bbf" in other


def test_clusters_are_refused_where_a_job_has_a_room(runner: WorkflowRunner) -> None:
    given = ("--sites", "cori", "--output-sites", "local", "--dir", "submit")
    bb = (sys.executable, "-m", "pegasus_bb", "plan", *given, "--bb-mode", "hybrid")
    cluster = ("--cluster", "horizontal")
    done = runner.try_call(*bb, *cluster, "workflow.yml")
    assert done.returncode == 2
    assert "in mode hybrid a job has a reservation for its own files" in done.stderr
    assert list((runner.work / "submit").rglob("*.dag")) == []


def test_clusters_are_fine_where_none_has(runner: WorkflowRunner) -> None:
    with_sizes(runner, granularity="10MiB")
    submit = plan(runner, "--cluster", "horizontal")
    runner.call(sys.executable, "-m", "pegasus_bb", "run", str(submit))
    assert (runner.work / "out" / "out.txt").read_text() == "hello\n"
