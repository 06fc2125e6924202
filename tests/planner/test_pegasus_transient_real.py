"""A reservation for each job through a real pegasus-plan, and runs of its plans."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pegasus_bb.planner.dagreader import read_dag
from tests.planner.real_desk import MARKS, Desk

pytestmark = MARKS


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def plan(desk: Desk, *words: str) -> Path:
    return desk.plan("r", "--bb-poll", "1s", *words, mode="transient")


def refused(desk: Desk, *words: str) -> str:
    given = ("--sites", "cori", "--output-sites", "local", "--dir", "submit")
    bb = (sys.executable, "-m", "pegasus_bb", "plan", *given)
    argv = (*bb, "--bb-mode", "transient", *words, "workflow.yml")
    done: subprocess.CompletedProcess[str] = desk.try_call(*argv)
    assert done.returncode == 2, done.stdout + done.stderr
    assert list((desk.work / "submit").rglob("*.dag")) == []
    return done.stderr


def test_it_plans_and_runs_and_all_reservations_are_given_back(desk: Desk) -> None:
    submit = plan(desk)
    desk.call(sys.executable, "-m", "pegasus_bb", "run", str(submit))
    assert (desk.work / "out" / "out.txt").read_text() == "hello\n"
    assert [p for p in (desk.work / "fast").iterdir() if p.is_dir()] == []
    notes = sorted(p.name for p in (submit / "bb" / "landed").glob("*.json"))
    assert notes == ["cat1_ID1.json", "cat1_ID2.json"]


def test_only_the_post_scripts_of_tasks_are_others(desk: Desk) -> None:
    submit = plan(desk)
    dag = read_dag(submit / "demo-0.dag")
    own = f"{submit}/bb/bin/landed"
    waiting = {
        n for n, node in dag.nodes.items() if node.post and node.post.executable == own
    }
    assert waiting == {"cat1_ID1", "cat1_ID2"}
    post = dag.nodes["cat1_ID1"].post
    assert post is not None
    assert (post.defer_status, post.defer_time) == (75, 1)
    words = post.arguments.split()
    assert words[:3] == ["cat1_ID1", "$JOBID", "$RETURN"]
    assert words[3] == f"{desk.pegasus}/pegasus-exitcode"
    assert "bb_setup" not in " ".join(dag.nodes)


def test_scratch_stays_on_the_pfs(desk: Desk) -> None:
    submit = plan(desk)
    text = (submit / "00/00/cat1_ID1.sub").read_text()
    said = json.loads((submit / "bb" / "plan.json").read_text())
    assert said["mode"] == "transient"
    assert said["scratch"].startswith(f"{desk.work}/scratch/")
    assert f" -w {said['scratch']} " in text
    assert f"executable = {submit}/bb/bin/launch" in text


def test_under_slurm_each_job_asks_for_its_own_space(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "glite")
    sites = json.loads((desk.work / "sites.yml").read_text())
    sites["x-storage-tiers"]["cori"][0] = {
        "name": "bb",
        "backend": "datawarp",
        "capacity": "10MiB",
    }
    own = {"glite.arguments": "--qos=fast"}
    sites["sites"][1]["profiles"]["pegasus"].update(own)
    (desk.work / "sites.yml").write_text(json.dumps(sites))
    submit = plan(desk)
    for job in ("ID1", "ID2"):
        text = (submit / f"00/00/cat1_{job}.sub").read_text()
        assert f"--qos=fast --bbf={submit}/bb/jobs/{job}.bbf" in text
    lines = (submit / "bb/jobs/ID1.bbf").read_text().splitlines()
    assert [line.split()[1] for line in lines] == ["jobdw", "stage_in", "stage_out"]
    assert "/.pegasus_bb_landing/cat1_ID1" in lines[2]
    other = (submit / "00/00/create_dir_demo_0_cori.sub").read_text()
    assert "--bbf" not in other


def test_a_property_does_not_hide_the_option(tmp_path: Path) -> None:
    """pegasus-plan lets it stand in the place of a job's own profile."""
    desk = Desk(tmp_path, "glite")
    sites = json.loads((desk.work / "sites.yml").read_text())
    tier = {"name": "bb", "backend": "datawarp", "capacity": "10MiB"}
    sites["x-storage-tiers"]["cori"][0] = tier
    (desk.work / "sites.yml").write_text(json.dumps(sites))
    words = ("--bb-mode", "transient", "-Dpegasus.glite.arguments=--qos=fast")
    given = ("--sites", "cori", "--output-sites", "local", "--dir", "submit")
    bb = (sys.executable, "-m", "pegasus_bb", "plan", *given, *words)
    done = desk.try_call(*bb, "--relative-submit-dir", "r", "workflow.yml")
    assert done.returncode == 0, done.stderr
    text = (desk.work / "submit/r/00/00/cat1_ID1.sub").read_text()
    assert f'"--qos=fast --bbf={desk.work}/submit/r/bb/jobs/ID1.bbf"' in text


def test_clusters_are_refused(desk: Desk) -> None:
    assert "a reservation for its own files" in refused(desk, "--cluster", "horizontal")


def test_a_stageable_program_runs_from_the_reservation(desk: Desk) -> None:
    place = {"name": "cori", "pfn": str(desk.work / "cat1.sh"), "type": "stageable"}
    desk.change(
        "transformations.yml", transformations=[{"name": "cat1", "sites": [place]}]
    )
    submit = plan(desk)
    room = json.loads((submit / "bb/jobs/cat1_ID1.json").read_text())
    assert room["stage_in"] == ["in.txt", "cat1"]
    desk.call(sys.executable, "-m", "pegasus_bb", "run", str(submit))
    assert (desk.work / "out" / "out.txt").read_text() == "hello\n"
