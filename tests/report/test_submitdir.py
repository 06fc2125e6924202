"""A submit directory -> a Run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.model.run import Kind
from pegasus_bb.report.run_clock import by_the_clock
from pegasus_bb.report.run_folder import read_run
from tests.report.made import RECORDED, record_text, xml_text
from tests.support.counting import calls


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


def test_without_a_job_state_log_the_makespan_is_the_records() -> None:
    run = read_run(RECORDED / "gated")
    assert run.makespan == pytest.approx(210.516)
    assert run.makespan_from == "records"
    assert run.gate_wait is None


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
    run = read_run(submit_dir)
    assert run.tasks[0].start == began
    assert run.makespan == 5 + 8
    assert run.span == pytest.approx(61.5 - 52)


def test_a_task_knows_how_long_its_node_was_queued(submit_dir: Path) -> None:
    (submit_dir / "jobstate.log").write_text(
        "100 cat_ID1 SUBMIT 2.0 cluster - 1\n107 cat_ID1 EXECUTE 2.0 cluster - 1\n"
    )
    assert [task.queued for task in read_run(submit_dir).tasks] == [7.0]


@pytest.mark.parametrize(("submitted", "queued"), [(-7, 7.0), (3, None)])
def test_without_an_execute_line_it_queued_until_its_record_began(
    submit_dir: Path, submitted: int, queued: float | None
) -> None:
    """The record of an attempt before the last one says nothing."""
    start = int(read_run(submit_dir).tasks[0].start)
    line = f"{start + submitted} cat_ID1 SUBMIT 2.0 cluster - 1\n"
    (submit_dir / "jobstate.log").write_text(line)
    run = read_run(submit_dir)
    assert [task.queued for task in run.tasks] == [queued]
    assert run.nodes[0].queue == queued


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


def test_with_a_job_state_log_queueing_is_in_the_makespan(submit_dir: Path) -> None:
    (submit_dir / "jobstate.log").write_text(
        "100 INTERNAL *** DAGMAN_STARTED 1.0 ***\n"
        "101 cat_ID1 SUBMIT 2.0 cluster - 1\n"
        "190.5 INTERNAL *** DAGMAN_FINISHED 0 ***\n"
    )
    run = read_run(submit_dir)
    assert (run.makespan, run.makespan_from) == (90.5, "jobstate.log")
    assert run.span == pytest.approx(1.5)
    assert run.nodes[0].submitted == 101


def test_records_tell_the_fractions_of_the_makespan(submit_dir: Path) -> None:
    first = min(task.start for task in read_run(submit_dir).tasks)
    last = max(task.end for task in read_run(submit_dir).tasks)
    (submit_dir / "jobstate.log").write_text(
        f"{int(first)} INTERNAL *** DAGMAN_STARTED 1.0 ***\n"
        f"{int(last)} INTERNAL *** DAGMAN_FINISHED 0 ***\n"
    )
    run = read_run(submit_dir)
    assert run.makespan == pytest.approx(last - first)
    assert sum(by_the_clock(run).values()) == pytest.approx(last - first)


def test_a_log_that_ends_before_the_run_does_not_shorten_it(submit_dir: Path) -> None:
    """So pegasus-monitord leaves it when DAGMan was held and released."""
    (first,) = read_run(submit_dir).tasks
    text = (submit_dir / "00/00/cat_ID1.out.000").read_text()
    later = text.replace("ID1", "ID2").replace("T18:54", "T18:55")
    (submit_dir / "00/00/sort_ID2.out.000").write_text(later)
    log = submit_dir / "jobstate.log"
    log.write_text(
        f"{first.start - 10} INTERNAL *** DAGMAN_STARTED 1.0 ***\n"
        f"{first.start - 5} INTERNAL *** DAGMAN_FINISHED 3 ***\n"
        f"{first.start} INTERNAL *** DAGMAN_STARTED 1.0 ***\n"
        f"{first.start} cat_ID1 SUBMIT 2.0 cluster - 1\n"
    )
    run = read_run(submit_dir)
    last = max(task.end for task in run.tasks)
    assert run.makespan == pytest.approx(5 + last - first.start)
    (problem,) = run.problems
    assert problem.file == str(log)
    assert "before the last record, without 1 nodes" in problem.why


def test_a_sub_workflow_by_another_clock_does_not_lengthen_the_run(
    submit_dir: Path,
) -> None:
    """Its nodes are never in the log of the workflow above."""
    (first,) = read_run(submit_dir).tasks
    text = (submit_dir / "00/00/cat_ID1.out.000").read_text()
    below = submit_dir / "below"
    below.mkdir()
    hour_later = text.replace("ID1", "ID2").replace("T18:54", "T19:54")
    (below / "sort_ID2.out.000").write_text(hour_later)
    (submit_dir / "demo-0.dag").write_text("JOB cat_ID1 00/00/cat_ID1.sub\n")
    (submit_dir / "jobstate.log").write_text(
        f"{first.start} INTERNAL *** DAGMAN_STARTED 1.0 ***\n"
        f"{first.start} cat_ID1 SUBMIT 2.0 cluster - 1\n"
        f"{first.start + 90} INTERNAL *** DAGMAN_FINISHED 0 ***\n"
    )
    run = read_run(submit_dir)
    assert run.makespan == pytest.approx(90)
    assert run.problems == ()


def test_the_gate_is_the_pre_script_of_create_dir(submit_dir: Path) -> None:
    record = record_text("pegasus::dirmanager", "null")
    (submit_dir / "00/00/create_dir_demo_0_c.out.000").write_text(record)
    (submit_dir / "jobstate.log").write_text(
        "100 INTERNAL *** DAGMAN_STARTED 1.0 ***\n"
        "101 create_dir_demo_0_c PRE_SCRIPT_STARTED - c - 1\n"
        "131 create_dir_demo_0_c PRE_SCRIPT_STARTED - c - 1\n"
        "132 create_dir_demo_0_c PRE_SCRIPT_SUCCESS 0 c - 1\n"
        "133 cat_ID1 PRE_SCRIPT_STARTED - c - 2\n"
        "199 cat_ID1 PRE_SCRIPT_SUCCESS 0 c - 2\n"
    )
    assert read_run(submit_dir).gate_wait == 31


def test_what_was_planned_is_told_from_the_bb_folder(submit_dir: Path) -> None:
    bb = submit_dir / "bb"
    bb.mkdir()
    (bb / "plan.json").write_text('{"mode": "persistent", "tier": "bb", "label": "x"}')
    (bb / "request.json").write_text('{"backend": "directory"}')
    (submit_dir / "braindump.yml").write_text('dax_label: "demo"\nwf_uuid: "u-1"\n')
    run = read_run(submit_dir)
    assert (run.mode, run.tier, run.backend) == ("persistent", "bb", "directory")
    assert (run.label, run.uuid) == ("demo", "u-1")


def test_where_each_job_has_its_own_the_backend_is_theirs(submit_dir: Path) -> None:
    (submit_dir / "bb").mkdir()
    (submit_dir / "bb/transient.json").write_text('{"backend": "datawarp"}')
    assert read_run(submit_dir).backend == "datawarp"


def test_of_a_retried_node_the_last_attempt_counts(submit_dir: Path) -> None:
    for attempt, seconds in (("001", "2.5"), ("002", "3.5")):
        path = submit_dir / f"00/00/cat_ID1.out.{attempt}"
        path.write_text(record_text(duration=seconds))
    run = read_run(submit_dir)
    assert [(task.duration, task.retry) for task in run.tasks] == [(3.5, 2)]
    assert run.retries == 2


def test_a_job_that_is_still_running_has_no_record_yet(submit_dir: Path) -> None:
    (submit_dir / "00/00/sort_ID2.sub").touch()
    (submit_dir / "00/00/sort_ID2.out").write_text("half a rec")
    run = read_run(submit_dir)
    assert [task.node for task in run.tasks] == ["cat_ID1"]
    assert run.missing == ("sort_ID2",)


def test_dagmans_own_submit_file_is_no_node(submit_dir: Path) -> None:
    (submit_dir / "demo-0.dag.condor.sub").touch()
    assert read_run(submit_dir).missing == ()


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


def test_a_torn_job_state_log_is_listed(submit_dir: Path) -> None:
    (submit_dir / "jobstate.log").write_text("100 INTERNAL *** DAGMAN_STARTED 1\nxx\n")
    (problem,) = read_run(submit_dir).problems
    assert problem.why == "1 lines that are not of its format were skipped"


def test_the_runs_own_programs_leave_nothing_that_counts(submit_dir: Path) -> None:
    (submit_dir / "bb/lib").mkdir(parents=True)
    (submit_dir / "bb/lib/odd.out.000").write_text("not a record")
    assert read_run(submit_dir).problems == ()


def test_a_single_record_is_a_run_of_one_task() -> None:
    run = read_run(RECORDED / "kickstart-5.1.2-t-procs.yml")
    assert [task.transformation for task in run.tasks] == ["writer"]
    assert run.makespan == pytest.approx(0.007, abs=1e-6)


def test_a_record_file_that_names_node_and_attempt_says_so(submit_dir: Path) -> None:
    path = submit_dir / "00/00/cat_ID1.out.000"
    (task,) = read_run(path.rename(path.with_suffix(".003"))).tasks
    assert (task.node, task.retry) == ("cat_ID1", 3)


def test_a_folder_of_records_of_any_name_is_read(tmp_path: Path) -> None:
    """And what is no record in it is left alone."""
    for name in ("kickstart-5.1.2-t-procs.yml", "kickstart-5.1.2-failed.yml"):
        shutil.copy(RECORDED / name, tmp_path)
    (tmp_path / "merge").write_text(xml_text())
    (tmp_path / "README").write_text("Records of last week.\n")
    run = read_run(tmp_path)
    assert len(run.tasks) == 3
    assert run.problems == ()


def test_a_submit_directory_has_no_records_of_other_names(submit_dir: Path) -> None:
    """A job that still runs prints into <node>.out."""
    for path in submit_dir.rglob("*.out.000"):
        path.rename(path.with_suffix(""))
    with pytest.raises(UsageError, match="no Kickstart record"):
        read_run(submit_dir)


def test_a_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file or folder; name a submit"):
        read_run(tmp_path / "missing")


def test_a_folder_above_runs_is_refused(tmp_path: Path) -> None:
    for name in ("off", "pfs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "braindump.yml").touch()
        (tmp_path / name / "cat_ID1.out.000").write_text(record_text())
    with pytest.raises(UsageError, match=r"such as those below it: .*/off, "):
        read_run(tmp_path)
    (tmp_path / "braindump.yml").touch()  # the others are sub-workflows
    assert len(read_run(tmp_path).tasks) == 2


def test_a_folder_that_was_never_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no Kickstart record .* been run"):
        read_run(tmp_path)


def test_a_record_costs_the_same_in_a_large_run(tmp_path: Path) -> None:
    record = (RECORDED / "kickstart-5.1.2-t-procs.yml").read_bytes()

    def cost(count: int) -> int:
        for number in range(count):
            (tmp_path / f"writer_ID{number:07}.out.000").write_bytes(record)
        return calls(lambda: read_run(tmp_path))

    assert cost(300) < 11 * cost(30)
