"""A reservation for each job through a real pegasus-plan, and runs of its plans."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pegasus_bb.dag.reader import read_dag
from tests.planner.real_pegasus import MARKS, WorkflowRunner

pytestmark = MARKS


@pytest.fixture
def runner(tmp_path: Path) -> WorkflowRunner:
    return WorkflowRunner(tmp_path)


def plan(runner: WorkflowRunner, *words: str) -> Path:
    return runner.plan("r", "--bb-poll", "1s", *words, mode="transient")


def refused(runner: WorkflowRunner, *words: str) -> str:
    given = ("--sites", "cori", "--output-sites", "local", "--dir", "submit")
    bb = (sys.executable, "-m", "pegasus_bb", "plan", *given)
    argv = (*bb, "--bb-mode", "transient", *words, "workflow.yml")
    done: subprocess.CompletedProcess[str] = runner.try_call(*argv)
    assert done.returncode == 2, done.stdout + done.stderr
    assert list((runner.work / "submit").rglob("*.dag")) == []
    return done.stderr


def test_it_plans_and_runs_and_all_reservations_are_given_back(
    runner: WorkflowRunner,
) -> None:
    submit = plan(runner)
    runner.call(sys.executable, "-m", "pegasus_bb", "run", str(submit))
    assert (runner.work / "out" / "out.txt").read_text() == "hello\n"
    assert [p for p in (runner.work / "fast").iterdir() if p.is_dir()] == []
    notes = sorted(p.name for p in (submit / "bb" / "stage_out").glob("*.json"))
    assert notes == ["cat1_ID1.json", "cat1_ID2.json"]


def test_only_the_post_scripts_of_tasks_are_others(runner: WorkflowRunner) -> None:
    submit = plan(runner)
    dag = read_dag(submit / "demo-0.dag")
    own = f"{submit}/bb/bin/await_stage_out"
    waiting = {
        n for n, node in dag.nodes.items() if node.post and node.post.executable == own
    }
    assert waiting == {"cat1_ID1", "cat1_ID2"}
    post = dag.nodes["cat1_ID1"].post
    assert post is not None
    assert (post.defer_status, post.defer_time) == (75, 1)
    words = post.arguments.split()
    assert words[:3] == ["cat1_ID1", "$JOBID", "$RETURN"]
    assert words[3] == f"{runner.pegasus}/pegasus-exitcode"
    assert "bb_setup" not in " ".join(dag.nodes)


def test_scratch_stays_on_the_pfs(runner: WorkflowRunner) -> None:
    submit = plan(runner)
    text = (submit / "00/00/cat1_ID1.sub").read_text()
    said = json.loads((submit / "bb" / "plan.json").read_text())
    assert said["mode"] == "transient"
    assert said["scratch"].startswith(f"{runner.work}/scratch/")
    assert f" -w {said['scratch']} " in text
    assert f"executable = {submit}/bb/bin/launch" in text


def test_under_slurm_each_job_asks_for_its_own_space(tmp_path: Path) -> None:
    runner = WorkflowRunner(tmp_path, "glite")
    sites = json.loads((runner.work / "sites.yml").read_text())
    sites["x-storage-tiers"]["cori"][0] = {
        "name": "bb",
        "backend": "datawarp",
        "capacity": "10MiB",
    }
    own = {"glite.arguments": "--qos=fast"}
    sites["sites"][1]["profiles"]["pegasus"].update(own)
    (runner.work / "sites.yml").write_text(json.dumps(sites))
    submit = plan(runner)
    for job in ("ID1", "ID2"):
        text = (submit / f"00/00/cat1_{job}.sub").read_text()
        assert f"--qos=fast --bbf={submit}/bb/nodes/{job}.bbf" in text
    lines = (submit / "bb/nodes/ID1.bbf").read_text().splitlines()
    assert [line.split()[1] for line in lines] == ["jobdw", "stage_in", "stage_out"]
    assert "/.pegasus_bb_landing/cat1_ID1" in lines[2]
    other = (submit / "00/00/create_dir_demo_0_cori.sub").read_text()
    assert "--bbf" not in other


def test_a_property_does_not_hide_the_option(tmp_path: Path) -> None:
    """pegasus-plan lets it stand in the place of a job's own profile."""
    runner = WorkflowRunner(tmp_path, "glite")
    sites = json.loads((runner.work / "sites.yml").read_text())
    tier = {"name": "bb", "backend": "datawarp", "capacity": "10MiB"}
    sites["x-storage-tiers"]["cori"][0] = tier
    (runner.work / "sites.yml").write_text(json.dumps(sites))
    words = ("--bb-mode", "transient", "-Dpegasus.glite.arguments=--qos=fast")
    given = ("--sites", "cori", "--output-sites", "local", "--dir", "submit")
    bb = (sys.executable, "-m", "pegasus_bb", "plan", *given, *words)
    done = runner.try_call(*bb, "--relative-submit-dir", "r", "workflow.yml")
    assert done.returncode == 0, done.stderr
    text = (runner.work / "submit/r/00/00/cat1_ID1.sub").read_text()
    assert f'"--qos=fast --bbf={runner.work}/submit/r/bb/nodes/ID1.bbf"' in text


def test_what_is_told_is_of_the_jobs_that_are_planned(runner: WorkflowRunner) -> None:
    """pegasus-plan leaves out a job whose result nobody wants."""
    data = json.loads((runner.work / "workflow.yml").read_text())
    aside = json.loads(json.dumps(data["jobs"][1]).replace("out.txt", "unread.txt"))
    aside["id"], aside["uses"][1]["stageOut"] = "ID3", False
    data["jobDependencies"][0]["children"].append("ID3")
    runner.change("workflow.yml", **{**data, "jobs": [*data["jobs"], aside]})
    given = ("--sites", "cori", "--output-sites", "local", "--dir", "submit")
    bb = (sys.executable, "-m", "pegasus_bb", "plan", *given, "--bb-mode", "transient")
    told = runner.call(*bb, "workflow.yml").stderr
    assert len(list(runner.work.rglob("bb/nodes/*.json"))) == 2
    assert "for each of 2 jobs" in told


def clustered(runner: WorkflowRunner, **profiles: str) -> None:
    """Two chains from one input, in.txt -> mid.txt -> out.txt, whose jobs have these
    profiles, with {} for the chain's number."""
    data = json.loads((runner.work / "workflow.yml").read_text())
    jobs = json.dumps(data["jobs"])
    for old, new in (("ID", "X"), ("mid.txt", "mid2.txt"), ("out.txt", "out2.txt")):
        jobs = jobs.replace(old, new)
    chains = [data["jobs"], json.loads(jobs)]
    for number, chain in enumerate(chains):
        for job in chain:
            said = {key: value.format(number) for key, value in profiles.items()}
            job["profiles"] = {"pegasus": said}
    below = [{"id": "ID1", "children": ["ID2"]}, {"id": "X1", "children": ["X2"]}]
    runner.change("workflow.yml", jobs=[*chains[0], *chains[1]], jobDependencies=below)


def all_files_have(runner: WorkflowRunner, size: int) -> None:
    data = json.loads((runner.work / "workflow.yml").read_text())
    for job in data["jobs"]:
        for use in job["uses"]:
            use["size"] = size
    runner.change("workflow.yml", jobs=data["jobs"])


def room_of(submit: Path, node: str) -> dict[str, list[str]]:
    text = (submit / f"bb/nodes/{node}.json").read_text()
    found: dict[str, list[str]] = json.loads(text)["reservation"]
    return found


def runs_to_a_good_end(runner: WorkflowRunner, submit: Path) -> None:
    runner.call(sys.executable, "-m", "pegasus_bb", "run", str(submit))
    for name in ("out.txt", "out2.txt"):
        assert (runner.work / "out" / name).read_text() == "hello\n"
    assert [p for p in (runner.work / "fast").iterdir() if p.is_dir()] == []


def test_a_cluster_of_a_level_has_one_room(runner: WorkflowRunner) -> None:
    clustered(runner, **{"clusters.size": "2"})
    submit = plan(runner, "--cluster", "horizontal")
    rooms = sorted(p.name for p in (submit / "bb/nodes").iterdir())
    assert len(rooms) == 2
    assert all(name.startswith("merge_cat1_") for name in rooms)
    first = room_of(submit, rooms[0][: -len(".json")])
    assert first["stage_in"] == ["in.txt"]
    assert sorted(first["stage_out"]) == ["mid.txt", "mid2.txt"]
    runs_to_a_good_end(runner, submit)
    record = next(submit.glob(f"00/00/{rooms[0][: -len('.json')]}.out.000")).read_text()
    folders = {line for line in record.splitlines() if line.strip().startswith("cwd:")}
    assert len(folders) == 1
    assert str(runner.work / "fast") in folders.pop()


def test_what_a_task_makes_a_later_one_finds_in_the_room_of_both(
    runner: WorkflowRunner,
) -> None:
    clustered(runner, label="chain{}")
    submit = plan(runner, "--cluster", "label")
    room = room_of(submit, "merge_chain1")
    assert room["stage_in"] == ["in.txt"]
    assert room["stage_out"] == ["mid2.txt", "out2.txt"]
    runs_to_a_good_end(runner, submit)


def test_a_task_that_fails_fails_its_cluster_and_it_can_be_tried_again(
    runner: WorkflowRunner,
) -> None:
    clustered(runner, label="chain{}")
    program = runner.work / "cat1.sh"
    text = program.read_text()
    program.write_text('#!/bin/sh\n[ "$2" != out.txt ] && cat "$1" > "$2"\n')
    submit = plan(runner, "--cluster", "label")
    bb = (sys.executable, "-m", "pegasus_bb", "run", str(submit))
    done = runner.try_call(*bb)
    assert done.returncode == 80
    assert "merge_chain0: its job ended" in done.stderr
    program.write_text(text)
    runs_to_a_good_end(runner, submit)


@pytest.mark.parametrize("given", ["--bb-capacity", "quota"])
def test_a_cluster_that_needs_more_than_there_is_is_refused(
    runner: WorkflowRunner, given: str
) -> None:
    """Each job alone would fit."""
    clustered(runner, **{"clusters.size": "2"})
    all_files_have(runner, 3 << 20)
    sites = json.loads((runner.work / "sites.yml").read_text())
    sites["x-storage-tiers"]["cori"][0].update(
        granularity="1MiB", capacity="auto", quota="8MiB"
    )
    (runner.work / "sites.yml").write_text(json.dumps(sites))
    words = ("--bb-capacity", "8MiB") if given == "--bb-capacity" else ()
    said = refused(runner, "--cluster", "horizontal", *words)
    assert "cluster merge_cat1_" in said
    assert "of 2 jobs" in said
    assert "smaller clusters (clusters.size)" in said


def test_only_clusters_that_pegasus_cluster_runs_are_taken(
    runner: WorkflowRunner,
) -> None:
    clustered(runner, **{"clusters.size": "2"})
    words = ("--cluster", "horizontal", "-Dpegasus.job.aggregator=mpiexec")
    assert "only one that pegasus-cluster runs can" in refused(runner, *words)


def test_under_slurm_a_cluster_asks_for_the_space_of_all_its_jobs(
    tmp_path: Path,
) -> None:
    runner = WorkflowRunner(tmp_path, "glite")
    tier = {"name": "bb", "backend": "datawarp", "granularity": "1MiB"}
    runner.change("sites.yml", **{"x-storage-tiers": {"cori": [tier]}})
    clustered(runner, label="chain{}")
    all_files_have(runner, 3 << 20)
    submit = plan(runner, "--cluster", "label")
    text = (submit / "00/00/merge_chain0.sub").read_text()
    file = submit / "bb/nodes/merge_chain0.bbf"
    assert f"--bbf={file}" in text
    assert text.count("--bbf=") == 1
    lines = file.read_text().splitlines()
    assert [line.split()[1] for line in lines] == ["jobdw", "stage_in", "stage_out"]
    assert f"capacity={10 * 1024**2}" in lines[0]  # 9 MiB and 10 per cent
    assert "/.pegasus_bb_landing/merge_chain0" in lines[2]


def test_a_stageable_program_runs_from_the_reservation(runner: WorkflowRunner) -> None:
    place = {"name": "cori", "pfn": str(runner.work / "cat1.sh"), "type": "stageable"}
    runner.change(
        "transformations.yml", transformations=[{"name": "cat1", "sites": [place]}]
    )
    submit = plan(runner)
    room = room_of(submit, "cat1_ID1")
    assert room["stage_in"] == ["in.txt", "cat1"]
    runner.call(sys.executable, "-m", "pegasus_bb", "run", str(submit))
    assert (runner.work / "out" / "out.txt").read_text() == "hello\n"
