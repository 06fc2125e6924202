"""A run -> what planning learns from it."""

from __future__ import annotations

from dataclasses import replace

from pegasus_bb.model.history import History, Past
from pegasus_bb.model.run import Calls, FileUse
from pegasus_bb.report.learn import history_of
from tests.report.made import a_run, a_task


def test_a_task_that_failed_tells_of_nothing() -> None:
    learned = history_of(a_run(a_task(exit_code=1)))
    assert learned.of("ID1", "cat") is None


def test_a_job_has_its_own_past_and_else_that_of_its_kind() -> None:
    tasks = [a_task("x::cat:1", job=f"ID{n}", duration=float(n)) for n in (1, 2, 6)]
    learned = history_of(a_run(*tasks))
    of_kind = Past(2.0, 0.4, 1 << 20, 2 << 20, kernel=0.1)
    own = learned.of("ID6", "x::cat:1")
    assert own == replace(of_kind, duration=6.0, concurrency=1.5)
    assert learned.of("ID9", "x::cat:1") == replace(of_kind, concurrency=2.5)
    assert learned.of("ID9", "cat") is None


def test_a_log_alone_tells_of_every_job_that_runs_the_program() -> None:
    logged = a_task(
        "cat", job="", exit_code=None, duration=3.0, rchar=7, wchar=5, utime=None
    )
    learned = history_of(a_run(logged))
    assert learned.of("ID1", "x::cat:1") == Past(
        3.0, None, 7, 5, kernel=0.1, concurrency=1.0
    )
    assert learned.of("ID1", "x::dog:1") is None
    assert learned.makespan is None


def past_of(**fields: object) -> Past:
    past = history_of(a_run(a_task(**fields))).of("ID1", "cat")
    assert past is not None
    return past


def test_the_kernel_s_count_of_calls_goes_before_darshan_s() -> None:
    """It has every process in it, also those that Darshan does not see."""
    logged = Calls(9, 9, 0.5, data=70, metadata=20, meta_time=0.25)
    past = past_of(syscr=100, syscw=11, calls=logged)
    assert (past.calls, past.metadata, past.meta_time) == (111, 20, 0.25)
    assert past_of(calls=logged).calls == 70
    assert past_of(syscr=100).calls is None


def test_every_file_that_kickstart_traced_was_opened_and_closed() -> None:
    files = [FileUse(f"/run/{n}", f"/run/{n}", bytes_read=5) for n in range(3)]
    listed = FileUse("a", "/run/a", 5)
    assert past_of(files=(*files, listed)).metadata == 6
    assert past_of(files=(listed,)).metadata is None


def on_the_tier(**fields: object) -> History:
    return history_of(a_run(a_task(), mode="persistent", tier="bb", **fields))


def test_the_wait_at_the_gate_is_no_part_of_what_the_jobs_took() -> None:
    learned = on_the_tier(makespan=100.0, gate_wait=60.0)
    assert (learned.makespan, learned.wait) == (40.0, 60.0)
    assert (learned.place, learned.mode) == ("bb", "persistent")


def test_a_run_that_fell_back_tells_of_the_pfs() -> None:
    """And not of how long the reservation takes, which never came."""
    learned = on_the_tier(makespan=100.0, gate_wait=60.0, fallback="too late")
    assert (learned.place, learned.mode) == ("pfs", "off")
    assert (learned.makespan, learned.wait) == (40.0, None)


def test_sizes_are_of_lfns() -> None:
    files = FileUse("a/b", "/run/a/b", 5, True), FileUse("/tmp/x", "/tmp/x", 7, True)
    assert history_of(a_run(a_task(files=files))).sizes == {"a/b": 5}


def test_records_that_name_no_job_are_said_to_count_as_other() -> None:
    unnamed = a_task("", job="", node="a")
    assert history_of(a_run(a_task())).source == "demo/run"
    assert history_of(a_run(unnamed, a_task(), unnamed)).source == (
        "demo/run (2 of 3 records name neither job nor transformation: their time "
        "counts as other)"
    )


def test_tasks_that_ran_at_the_same_time_are_counted() -> None:
    """Of two seconds the other ran in one."""
    tasks = [a_task(job="ID1", duration=2.0), a_task("dog", job="ID2", start=1.0)]
    learned = history_of(a_run(*tasks))
    assert {job: past.concurrency for job, past in learned.jobs.items()} == {
        "ID1": 1.5,
        "ID2": 2.0,
    }
