"""Each mode through a real pegasus-plan, and runs of its plans."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from pegasus_bb.model.dag.reader import read_dag
from tests.support.real_pegasus import MARKS, WorkflowRunner

pytestmark = MARKS
SIZES = {"in.txt": 20_000, "mid.txt": 60_000, "out.txt": 60_000}
SMALL = {"granularity": "1KiB", "capacity": "auto"}
# mode -> nodes with a job reservation
MODES = {
    "persistent": set[str](),
    "transient": {"cat1_ID1", "cat1_ID2"},
    "hybrid": {"cat1_ID2"},
}
DATAWARP = {"backend": "datawarp"}


@pytest.fixture
def runner(tmp_path: Path) -> WorkflowRunner:
    return WorkflowRunner(tmp_path)


@pytest.fixture
def slurm(tmp_path: Path) -> WorkflowRunner:
    return WorkflowRunner(tmp_path, "glite", **DATAWARP)


def with_sizes(runner: WorkflowRunner, **sizes: int) -> None:
    """All sizes are declared, and granules are as small as these."""
    runner.tier(**SMALL)
    with runner.edited("workflow.yml") as data:
        for job in data["jobs"]:
            for use in job["uses"]:
                use["metadata"] = {"size": sizes[use["lfn"]]}


def plan(runner: WorkflowRunner, mode: str, *words: str) -> Path:
    return runner.plan(mode, "--bb-poll", "1s", *words)


def refusal(runner: WorkflowRunner, mode: str, *words: str) -> str:
    done = runner.try_plan(mode, *words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert list((runner.work / "submit").rglob("*.dag")) == []
    return done.stderr


@pytest.mark.parametrize(("mode", "own"), MODES.items())
def test_it_plans_and_runs_and_every_reservation_is_given_back(
    runner: WorkflowRunner, mode: str, own: set[str]
) -> None:
    if mode == "hybrid":
        with_sizes(runner, **SIZES)
    submit = plan(runner, mode)
    dag = read_dag(submit / "demo-0.dag")
    programs = f"{submit}/bb/bin"
    posts = {name: node.post for name, node in dag.nodes.items() if node.post}
    waits = f"{programs}/await_stage_out"
    assert {n for n, post in posts.items() if post.executable == waits} == own
    pre = dag.nodes["create_dir_demo_0_cori"].pre
    gated = pre is not None and pre.executable == f"{programs}/gate"
    assert gated == (mode != "transient")
    assert runner.read("plan.json")["mode"] == mode
    assert runner.run() == "hello\n"
    assert runner.standing == []
    notes = (p.name for p in (submit / "bb" / "stage_out").glob("*.json"))
    assert sorted(notes) == sorted(f"{name}.json" for name in own)
    lines = (runner.root / "ledger.jsonl").read_text().splitlines()
    events = [json.loads(line)["event"] for line in lines]
    assert events.count("released") == events.count("requested") > 0


@pytest.mark.parametrize("said_in", ["site", "properties"])
def test_under_slurm_each_job_names_its_own_file(
    slurm: WorkflowRunner, said_in: str
) -> None:
    """pegasus-plan lets a property stand in the place of a job's own profile."""
    words = ("-Dpegasus.glite.arguments=--qos=fast",) * (said_in == "properties")
    if said_in == "site":
        with slurm.edited("sites.yml") as sites:
            own = sites["sites"][1]["profiles"]["pegasus"]
            own["glite.arguments"] = "--qos=fast"
    submit = plan(slurm, "transient", *words)
    for job in ("ID1", "ID2"):
        text = (submit / f"00/00/cat1_{job}.sub").read_text()
        own = f"--bbf={submit}/bb/nodes/{job}.bbf"
        theirs = "$(pegasus_glite_arguments)"  # 5.1.3: '--qos=fast', in another line
        assert f"--qos=fast {own}" in text or f"{theirs} {own}" in text
        assert "--qos=fast" in text
    lines = (submit / "bb/nodes/ID1.bbf").read_text().splitlines()
    assert [line.split()[1] for line in lines] == ["jobdw", "stage_in", "stage_out"]
    assert "/.pegasus_bb_landing/cat1_ID1" in lines[2]
    other = (submit / "00/00/create_dir_demo_0_cori.sub").read_text()
    assert "--bbf" not in other


def test_clusters_are_refused_if_a_job_of_mode_hybrid_has_a_reservation(
    runner: WorkflowRunner,
) -> None:
    with_sizes(runner, **SIZES)
    said = refusal(runner, "hybrid", "--cluster", "horizontal")
    assert "in mode hybrid a job has a reservation for its own files" in said


def clustered(runner: WorkflowRunner, **profiles: str) -> None:
    """Two chains from one input, in.txt -> mid.txt -> out.txt, whose jobs have these
    profiles, with {} for the chain's number."""
    with runner.edited("workflow.yml") as data:
        jobs = json.dumps(data["jobs"])
        for old, new in (("ID", "X"), ("mid.txt", "mid2.txt"), ("out.txt", "out2.txt")):
            jobs = jobs.replace(old, new)
        chains = [data["jobs"], json.loads(jobs)]
        for number, chain in enumerate(chains):
            for job in chain:
                said = {key: value.format(number) for key, value in profiles.items()}
                job["profiles"] = {"pegasus": said}
        data["jobs"] = [*chains[0], *chains[1]]
        data["jobDependencies"].append({"id": "X1", "children": ["X2"]})


def reservation_of(runner: WorkflowRunner, node: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = runner.read(f"nodes/{node}.json")["reservation"]
    return found


def runs_to_a_good_end(runner: WorkflowRunner) -> None:
    assert runner.run() == "hello\n"
    assert (runner.work / "out" / "out2.txt").read_text() == "hello\n"
    assert runner.standing == []


def test_a_chain_is_a_cluster_whose_inner_files_stay(runner: WorkflowRunner) -> None:
    """Labels of the user's own join nothing."""
    clustered(runner, label="mine", **{"clusters.size": "1"})
    more = ("--bb-chains", "auto", "--cluster", "horizontal")
    submit = plan(runner, "transient", *more)
    first, second = sorted(p.stem for p in (submit / "bb/nodes").iterdir())
    assert (first, second) == ("merge_chain1", "merge_chain2")
    own = reservation_of(runner, first)
    assert (own["stay"], own["stage_out"]) == (["mid.txt"], ["out.txt"])
    runs_to_a_good_end(runner)
    assert not list((runner.work / "pfs").rglob("mid*.txt"))


def test_files_with_several_readers_stay_in_a_chain_with_several_first_jobs(
    runner: WorkflowRunner,
) -> None:
    clustered(runner, runtime="60")
    with runner.edited("workflow.yml") as data:
        last = copy.deepcopy(data["jobs"][1]) | {"id": "last"}
        last["arguments"] = ["mid.txt", "last.txt"]
        last["uses"][0]["lfn"] = "mid.txt"
        (result,) = (use for use in last["uses"] if use["type"] == "output")
        result["lfn"] = "last.txt"
        last["uses"].append({"lfn": "mid2.txt", "type": "input"})
        data["jobs"].append(last)
    submit = plan(runner, "transient", "--bb-chains", "on")
    (name,) = (p.stem for p in (submit / "bb/nodes").iterdir())
    own = reservation_of(runner, name)
    assert sorted(own["stay"]) == ["mid.txt", "mid2.txt"]
    runs_to_a_good_end(runner)
    assert (runner.work / "out" / "last.txt").read_text() == "hello\n"


def test_a_failed_task_of_a_chain_is_tried_again_in_its_place(
    runner: WorkflowRunner,
) -> None:
    """pegasus-kickstart writes the records, and pegasus-exitcode believes the last."""
    task = runner.work / "cat1.sh"
    once = (
        f"if [ $2 = out.txt ] && rm {runner.work}/ill; then echo half > $2; exit 7; fi"
    )
    count = f"echo $2 >> {runner.work}/ran"
    task.write_text(f'#!/bin/sh\n{count}\n{once}\nset -C; cat "$1" > "$2"\n')
    (runner.work / "ill").touch()
    clustered(runner)
    submit = plan(runner, "transient", "--bb-chains", "auto")
    runs_to_a_good_end(runner)
    ran = (runner.work / "ran").read_text().split()
    assert [ran.count(name) for name in ("mid.txt", "out.txt")] == [1, 2]
    name = "00/00/merge_chain1"
    tried = "# pegasus_bb tries: 2\n- invocation: "
    assert tried in (submit / f"{name}.out.000").read_text()
    failed = (submit / f"{name}.err.000").read_text()
    assert failed.startswith("- invocation: True\n")
    assert "launch: ID2: try 1 ended with 7; it is tried again" in failed
