"""A run -> what planning learns from it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pegasus_bb.model.history import Past
from pegasus_bb.model.run import FileUse, NodeTimes
from pegasus_bb.report.learn import history_of, startup_of
from tests.report.sample_runs import a_run, a_task


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


def test_the_wait_at_the_gate_is_no_part_of_what_the_jobs_took() -> None:
    times = {"makespan": 100.0, "gate_wait": 60.0}
    learned = history_of(a_run(a_task(), mode="persistent", tier="bb", **times))
    assert (learned.makespan, learned.wait) == (40.0, 60.0)
    assert (learned.place, learned.mode) == ("bb", "persistent")


def test_the_tasks_of_a_cluster_do_not_tell_what_starting_a_job_takes() -> None:
    """Beside each of them the job runs the others."""
    tasks, nodes = [], []
    for number in range(9):
        name, start = f"merge{number // 3}", 10.0 * number
        tasks.append(a_task(job=f"ID{number}", node=name, start=start, duration=10.0))
        if number % 3 == 0:
            nodes.append(
                NodeTimes(name, executing=start, terminated=start + 31, ready=start)
            )
    alone = [a_task(job=f"A{n}", node=f"n{n}", duration=5.0) for n in range(9)]
    nodes += [
        NodeTimes(f"n{n}", executing=0.0, terminated=6.0, ready=0.0) for n in range(9)
    ]
    learned = startup_of(a_run(*tasks, *alone, nodes=tuple(nodes)))
    assert learned is not None
    assert learned.job == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("seconds", "fixed"),
    [
        ((10.0, 12.0, 14.0, 18.0), 8.0 / 13.0),  # 8 s, and 2 s for each MB
        ((5.0, 9.0, 4.0, 6.0), None),  # no line
        ((2.0, 4.0, 6.0), None),  # too few
    ],
)
def test_what_of_the_run_time_does_not_grow_is_learned_from_tasks_of_several_sizes(
    seconds: tuple[float, ...], fixed: float | None
) -> None:
    tasks = [
        a_task(job=f"ID{at}", duration=took, files=(FileUse("in", "", size * 10**6),))
        for at, (size, took) in enumerate(zip((1, 2, 3, 5), seconds, strict=False))
    ]
    kind = history_of(a_run(*tasks)).of("", "cat")
    assert kind and kind.fixed == pytest.approx(fixed)


def test_outputs_are_as_large_as_planning_knew_them() -> None:
    files = (
        FileUse("input", "", 500),
        FileUse("declared", "", 100, output=True),
        FileUse("found", "", 30, output=True),
    )
    learned = history_of(a_run(a_task(files=files), planned_sizes={"declared": 400}))
    past = learned.of("ID1", "cat")
    assert past and past.made == 430


def test_a_job_of_another_program_has_nothing_but_the_id_in_common() -> None:
    """Pegasus.api numbers the jobs of every workflow from ID0000001 on."""
    tasks = a_task("x::cat:1", duration=5.0), a_task("x::sort", job="ID2", duration=2.0)
    learned = replace(history_of(a_run(*tasks)), temporary={"ID1": 9, "sort": 4})
    assert learned.of("ID1", "y::merge") is None
    own = learned.of("ID1", "x::sort")
    assert own and own.duration == 2.0, "that of its kind"
    newer = learned.of("ID1", "x::cat:2")
    assert newer and newer.duration == 5.0
    assert learned.temporary_of("ID1", "x::cat:1") == 9
    assert learned.temporary_of("ID1", "sort") == 4


def test_a_record_without_a_transformation_tells_of_its_job() -> None:
    learned = history_of(a_run(a_task("", duration=5.0)))
    own = learned.of("ID1", "x::cat:1")
    assert own and own.duration == 5.0
