"""A submit directory -> a Run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.model.run import Kind
from pegasus_bb.report.compare import compare
from pegasus_bb.report.run_folder import read_run
from tests.report.sample_runs import RECORDED, record_text


@pytest.fixture
def submit_dir(tmp_path: Path) -> Path:
    """One job that ran: what a planner and an engine leave behind."""
    jobs = tmp_path / "00" / "00"
    jobs.mkdir(parents=True)
    (jobs / "cat_ID1.sub").touch()
    (jobs / "cat_ID1.out.000").write_text(record_text())
    return tmp_path


def test_a_run_of_real_pegasus_is_read_whole() -> None:
    run = read_run(RECORDED / "gated")
    assert (run.label, run.uuid) == ("demo", "c7ae4aca-ae0f-4673-a449-f7d80c871bf2")
    assert len(run.tasks) == 15
    assert [task.node for task in run.tasks if task.kind is Kind.COMPUTE] == [
        "cat1_ID0000002",
        "cat1_ID0000003",
    ]
    assert run.problems == ()


def test_where_a_run_lay_still_counts_neither_in_the_part_nor_in_the_whole(
    submit_dir: Path,
) -> None:
    """The first task ran before the pause, another a minute later, after it."""
    later = record_text(job="ID2").replace("18:54:54", "18:55:54")
    (submit_dir / "00" / "00" / "cat_ID2.out.000").write_text(later)
    began = 1795200894  # when the first task did
    times = {began - 2: "STARTED 1.0", began + 3: "FINISHED 1"}
    times |= {began + 55: "STARTED 9.0", began + 63: "FINISHED 0"}
    lines = [f"{at} INTERNAL *** DAGMAN_{what} ***\n" for at, what in times.items()]
    (submit_dir / "jobstate.log").write_text("".join(lines))
    (submit_dir / "bb").mkdir()
    line = {"lfn": "out", "size": 7, "time": began + 62.0}
    (submit_dir / "bb" / "manifest.jsonl").write_text(json.dumps(line) + "\n")
    run = read_run(submit_dir)
    assert run.safe == run.makespan - 1
    assert run.tasks[0].start == began
    assert run.makespan == 5 + 8
    assert run.span == pytest.approx(61.5 - 52)
    whole = compare([run], []).all_compute.cells["makespan"].pfs
    assert whole is not None and whole.mean == pytest.approx(run.span)


@pytest.mark.parametrize("hour", ["17", "20"])
def test_a_task_by_another_clock_counts_from_when_its_job_ran(
    submit_dir: Path, hour: str
) -> None:
    began = 1795200894  # when the first task did
    states = {0: "SUBMIT", 1: "EXECUTE", 3: "JOB_TERMINATED"}
    lines = [f"{began} INTERNAL *** DAGMAN_STARTED 1.0 ***"]
    events = (f"{began + at} cat_ID2 {what}" for at, what in states.items())
    lines += (f"{event} 1.0 cluster - 2" for event in events)
    (submit_dir / "jobstate.log").write_text("\n".join(lines) + "\n")
    later = record_text(job="ID2").replace("T18:54:54", f"T{hour}:54:54")
    (submit_dir / "00" / "00" / "cat_ID2.out.000").write_text(later)
    run = read_run(submit_dir)
    (task,) = (each for each in run.tasks if each.node == "cat_ID2")
    assert began <= task.start and task.end < began + 4
    (off,) = run.clocks.values()
    assert 3590 < off < 7210
    assert run.tasks[0].start == began, "its node is not in the log"


@pytest.mark.parametrize(
    "other", ["00/00/cat_ID2.out.001", "inner/00/00/cat_ID2.out.000"]
)
def test_a_task_of_another_try_or_workflow_is_not_moved_into_a_job_of_its_name(
    submit_dir: Path, other: str
) -> None:
    """The log ends before the retry; the inner run has a log of its own."""
    began = 1795200894
    lines = [f"{began} INTERNAL *** DAGMAN_STARTED 1.0 ***"]
    for at, what in {0: "SUBMIT", 1: "EXECUTE", 3: "JOB_TERMINATED"}.items():
        lines.append(f"{began + at} cat_ID2 {what} 1.0 cluster - 2")
    (submit_dir / "jobstate.log").write_text("\n".join(lines) + "\n")
    first = submit_dir / "00/00/cat_ID2.out.000"
    first.write_text(record_text(job="ID2"))
    later = submit_dir / other
    later.parent.mkdir(parents=True, exist_ok=True)
    later.write_text(record_text(job="ID2").replace("18:54:54", "18:55:54"))
    run = read_run(submit_dir)
    assert run.clocks == {}
    assert began + 60 in [task.start for task in run.tasks]


def test_what_was_moved_is_told_by_the_programs_that_moved_it(submit_dir: Path) -> None:
    """Results are safe 2.5 s after the first task's start, their sizes are known."""
    bb = submit_dir / "bb"
    bb.mkdir()
    start = read_run(submit_dir).tasks[0].start
    line = {"lfn": "out", "size": 7, "time": start + 2.5, "uuid": "u1"}
    (bb / "manifest.jsonl").write_text(json.dumps(line) + "\n")
    placed = {"in": {"how": "copy", "size": 100}, "out": {"size": 7}}
    (bb / "placement.json").write_text(json.dumps({"files": placed}))
    run = read_run(submit_dir)
    assert (run.brought, run.saved, run.safe) == (100, 7, 2.5)
    assert run.footprint == 107


def test_what_was_planned_is_told_from_the_bb_folder(submit_dir: Path) -> None:
    bb = submit_dir / "bb"
    bb.mkdir()
    (bb / "plan.json").write_text('{"mode": "persistent", "tier": "bb", "label": "x"}')
    (bb / "request.json").write_text('{"backend": "directory"}')
    (submit_dir / "braindump.yml").write_text('dax_label: "demo"\nwf_uuid: "u-1"\n')
    run = read_run(submit_dir)
    assert (run.mode, run.tier, run.backend) == ("persistent", "bb", "directory")
    assert (run.label, run.uuid) == ("demo", "u-1")


def test_a_bad_record_costs_that_record_and_is_listed(submit_dir: Path) -> None:
    bad = submit_dir / "00/00/sort_ID2.out.000"
    bad.write_bytes(b"- invocation: True\n  mainjob: [\n")
    empty = submit_dir / "00/00/tar_ID3.out.000"
    empty.touch()
    run = read_run(submit_dir)
    assert [task.node for task in run.tasks] == ["cat_ID1"]
    assert {problem.file for problem in run.problems} == {str(bad), str(empty)}


@pytest.mark.parametrize("name", ["braindump.yml", "bb/plan.json"])
def test_metadata_that_cannot_be_read_is_listed_and_costs_no_task(
    submit_dir: Path, name: str
) -> None:
    (submit_dir / "bb").mkdir()
    (submit_dir / name).write_text("{[")
    run = read_run(submit_dir)
    assert [Path(problem.file).name for problem in run.problems] == [Path(name).name]
    assert len(run.tasks) == 1


def test_a_folder_above_runs_is_refused(tmp_path: Path) -> None:
    for name in ("off", "pfs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "braindump.yml").touch()
        (tmp_path / name / "cat_ID1.out.000").write_text(record_text())
    with pytest.raises(UsageError, match=r"such as those below it: .*/off, "):
        read_run(tmp_path)
    (tmp_path / "braindump.yml").touch()  # the others are sub-workflows
    assert len(read_run(tmp_path).tasks) == 2
