"""Each mode through a real pegasus-plan, and runs of its plans."""

from __future__ import annotations

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


def test_mode_transient_changes_the_post_scripts_of_tasks_alone(
    runner: WorkflowRunner,
) -> None:
    submit = plan(runner, "transient")
    dag = read_dag(submit / "demo-0.dag")
    post = dag.nodes["cat1_ID1"].post
    assert post is not None
    assert (post.defer_status, post.defer_time) == (75, 1)
    text = (submit / "demo-0.dag").read_text()
    plain, deferred = (f"SCRIPT{x} POST cat1_ID1 " for x in ("", " DEFER 75 1"))
    assert text.index(plain) < text.index(deferred)  # monitord knows no DEFER
    words = post.arguments.split()
    assert words[:3] == ["cat1_ID1", "$JOBID", "$RETURN"]
    assert words[3] == f"{runner.pegasus}/pegasus-exitcode"
    assert "bb_setup" not in " ".join(dag.nodes)
    scratch = runner.read("plan.json")["scratch"]
    assert scratch.startswith(f"{runner.work}/scratch/")
    text = (submit / "00/00/cat1_ID1.sub").read_text()
    assert f" -w {scratch} " in text
    assert f"executable = {submit}/bb/bin/launch" in text


def test_mode_hybrid_leaves_an_input_with_one_reader_on_the_pfs(
    runner: WorkflowRunner,
) -> None:
    with_sizes(runner, **SIZES)
    plan(runner, "hybrid")
    files = runner.read("placement.json")["files"]
    tiers = {lfn: files[lfn]["tier"] for lfn in SIZES}
    assert tiers == {"in.txt": "pfs", "mid.txt": "bb", "out.txt": "pfs"}


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
        assert f"--qos=fast --bbf={submit}/bb/nodes/{job}.bbf" in text
    lines = (submit / "bb/nodes/ID1.bbf").read_text().splitlines()
    assert [line.split()[1] for line in lines] == ["jobdw", "stage_in", "stage_out"]
    assert "/.pegasus_bb_landing/cat1_ID1" in lines[2]
    other = (submit / "00/00/create_dir_demo_0_cori.sub").read_text()
    assert "--bbf" not in other


def test_under_slurm_a_job_of_mode_hybrid_names_both_reservations_in_one_file(
    slurm: WorkflowRunner,
) -> None:
    with_sizes(slurm, **SIZES)
    with slurm.edited("sites.yml") as sites:
        sites["sites"][1]["profiles"]["pegasus"]["glite.arguments"] = "--qos=fast"
    submit = plan(slurm, "hybrid")
    own = (submit / "00/00/cat1_ID2.sub").read_text()
    assert f"--qos=fast --bbf={submit}/bb/nodes/ID2.bbf" in own
    assert own.count("--bbf=") == 1
    lines = (submit / "bb/nodes/ID2.bbf").read_text().splitlines()
    words = ["jobdw", "persistentdw", "stage_out"]
    assert [line.split()[1] for line in lines] == words
    assert lines[1] == f"#DW persistentdw name={slurm.read('request.json')['name']}"
    other = (submit / "00/00/cat1_ID1.sub").read_text()
    assert f"--qos=fast --bbf={submit}/bb/use.bbf" in other


def test_clusters_are_refused_if_a_job_of_mode_hybrid_has_a_reservation(
    runner: WorkflowRunner,
) -> None:
    with_sizes(runner, **SIZES)
    said = refusal(runner, "hybrid", "--cluster", "horizontal")
    assert "in mode hybrid a job has a reservation for its own files" in said


def test_clusters_are_fine_if_no_job_has_one(runner: WorkflowRunner) -> None:
    with_sizes(runner, **SIZES)
    runner.tier(granularity="10MiB")
    plan(runner, "hybrid", "--cluster", "horizontal")
    assert runner.run() == "hello\n"


def test_the_summary_is_of_the_jobs_that_are_planned(runner: WorkflowRunner) -> None:
    """pegasus-plan leaves out a job whose result is not needed."""
    with runner.edited("workflow.yml") as data:
        text = json.dumps(data["jobs"][1]).replace("out.txt", "unread.txt")
        aside = json.loads(text)
        aside["id"], aside["uses"][1]["stageOut"] = "ID3", False
        data["jobs"].append(aside)
        data["jobDependencies"][0]["children"].append("ID3")
    done = runner.try_plan("transient")
    assert done.returncode == 0, done.stderr
    assert len(list(runner.work.rglob("bb/nodes/*.json"))) == 2
    assert "for each of 2 jobs" in done.stderr


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


def all_files_have(runner: WorkflowRunner, size: int) -> None:
    with runner.edited("workflow.yml") as data:
        for job in data["jobs"]:
            for use in job["uses"]:
                use["size"] = size


def reservation_of(runner: WorkflowRunner, node: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = runner.read(f"nodes/{node}.json")["reservation"]
    return found


def runs_to_a_good_end(runner: WorkflowRunner) -> None:
    assert runner.run() == "hello\n"
    assert (runner.work / "out" / "out2.txt").read_text() == "hello\n"
    assert runner.standing == []


def test_a_cluster_of_a_level_has_one_reservation(runner: WorkflowRunner) -> None:
    clustered(runner, **{"clusters.size": "2"})
    submit = plan(runner, "transient", "--cluster", "horizontal")
    first, second = sorted(p.stem for p in (submit / "bb/nodes").iterdir())
    assert first.startswith("merge_cat1_")
    assert second.startswith("merge_cat1_")
    own = reservation_of(runner, first)
    assert own["stage_in"] == ["in.txt"]
    assert sorted(own["stage_out"]) == ["mid.txt", "mid2.txt"]
    runs_to_a_good_end(runner)
    record = (submit / f"00/00/{first}.out.000").read_text()
    folders = {line for line in record.splitlines() if line.strip().startswith("cwd:")}
    assert len(folders) == 1
    assert str(runner.work / "fast") in folders.pop()


def test_a_later_task_finds_files_of_an_earlier_one_in_their_reservation(
    runner: WorkflowRunner,
) -> None:
    clustered(runner, label="chain{}")
    plan(runner, "transient", "--cluster", "label")
    own = reservation_of(runner, "merge_chain1")
    assert own["stage_in"] == ["in.txt"]
    assert own["stage_out"] == ["mid2.txt", "out2.txt"]
    runs_to_a_good_end(runner)


def test_a_task_that_fails_fails_its_cluster_and_it_can_be_tried_again(
    runner: WorkflowRunner,
) -> None:
    clustered(runner, label="chain{}")
    program = runner.work / "cat1.sh"
    text = program.read_text()
    program.write_text('#!/bin/sh\n[ "$2" != out.txt ] && cat "$1" > "$2"\n')
    submit = plan(runner, "transient", "--cluster", "label")
    done = runner.bb("run", str(submit))
    assert done.returncode == 80
    assert "merge_chain0: its job ended" in done.stderr
    program.write_text(text)
    runs_to_a_good_end(runner)


@pytest.mark.parametrize("words", [(), ("--bb-capacity", "8MiB")])
def test_a_cluster_that_needs_more_than_there_is_is_refused(
    runner: WorkflowRunner, words: tuple[str, ...]
) -> None:
    """Each job alone would fit."""
    clustered(runner, **{"clusters.size": "2"})
    all_files_have(runner, 3 << 20)
    runner.tier(granularity="1MiB", capacity="auto", quota="8MiB")
    said = refusal(runner, "transient", "--cluster", "horizontal", *words)
    assert "cluster merge_cat1_" in said
    assert "of 2 jobs" in said
    assert "smaller clusters (clusters.size)" in said


def test_only_clusters_that_pegasus_cluster_runs_are_taken(
    runner: WorkflowRunner,
) -> None:
    clustered(runner, **{"clusters.size": "2"})
    words = ("--cluster", "horizontal", "-Dpegasus.job.aggregator=mpiexec")
    said = refusal(runner, "transient", *words)
    assert "only one that pegasus-cluster runs can" in said


def test_under_slurm_a_cluster_asks_for_the_space_of_all_its_jobs(
    slurm: WorkflowRunner,
) -> None:
    slurm.tier(granularity="1MiB", capacity="auto")
    clustered(slurm, label="chain{}")
    all_files_have(slurm, 3 << 20)
    submit = plan(slurm, "transient", "--cluster", "label")
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
    plan(runner, "transient")
    assert reservation_of(runner, "cat1_ID1")["stage_in"] == ["in.txt", "cat1"]
    assert runner.run() == "hello\n"
