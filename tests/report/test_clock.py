"""A run by the clock: every second is counted once, and for what counts most."""

from __future__ import annotations

import pytest

from pegasus_bb.model.run import Kind, NodeTimes, Run
from pegasus_bb.report.run_clock import (
    PARTS,
    begun,
    by_the_clock,
    gate_began,
    gate_wait,
)
from tests.report.made import a_run, a_task


def parts(run: Run) -> dict[str, float]:
    """Those that are not zero."""
    return {name: seconds for name, seconds in by_the_clock(run).items() if seconds}


def test_jobs_side_by_side_take_their_time_once() -> None:
    run = a_run(a_task(start=0, duration=10), a_task(start=2, duration=5))
    assert parts(run) == {"compute": 10}


def test_staging_costs_only_what_nobody_computes_beside() -> None:
    run = a_run(
        a_task(kind=Kind.STAGE_IN, start=0, duration=4),
        a_task(start=3, duration=5),
        a_task(kind=Kind.STAGE_OUT, start=7, duration=3),
    )
    assert parts(run) == {"stage_in": 3, "compute": 5, "stage_out": 2}


def test_every_second_from_the_engines_start_to_its_end_is_somewhere() -> None:
    create_dir = a_task(kind=Kind.CREATE_DIR, node="create_dir", start=14, duration=1)
    run = a_run(
        a_task(kind=Kind.BB_SETUP, start=1, duration=2),
        create_dir,
        a_task(start=20, duration=30, node="cat"),
        a_task(kind=Kind.BB_DELETE, start=52, duration=1),
        nodes=(
            NodeTimes("create_dir", 2, 12, submitted=12, executing=14),
            NodeTimes("cat", submitted=15, executing=19),
        ),
        stretches=((0, 55),),
    )
    assert parts(run) == {
        **{"reserve": 2, "gate_wait": 9, "queue": 6, "auxiliary": 1},
        **{"compute": 30, "release": 1, "other": 6},
    }
    assert sum(by_the_clock(run).values()) == 55


def test_a_log_of_whole_seconds_does_not_begin_before_the_first_task() -> None:
    run = a_run(a_task(start=7.75, duration=2), stretches=((7.0, 9.0),))
    assert parts(run) == {"compute": 2}
    assert begun(run) == 7.75
    assert begun(a_run(a_task(start=8.02), stretches=((7.0, 20.0),))) == 8.0
    assert begun(a_run(a_task(start=9.5), stretches=((7.0, 20.0),))) == 7.0
    assert begun(a_run(a_task(start=7.75), stretches=((7.25, 9.0),))) == 7.25
    assert begun(a_run()) is None


def test_a_log_of_whole_seconds_makes_no_wait_of_a_moment_at_the_gate() -> None:
    """The gate opens within 0.1 s of the end of bb_setup, across a second."""
    run = a_run(
        a_task(kind=Kind.BB_SETUP, node="bb_setup", start=4.8, duration=0.15),
        a_task(kind=Kind.CREATE_DIR, node="create_dir", start=5.05, duration=1),
        nodes=(NodeTimes("create_dir", 4, 5, submitted=5, executing=5),),
        stretches=((4, 6),),
    )
    assert gate_wait(run) == pytest.approx(0.1)
    assert gate_began(run) == pytest.approx(4.95)
    assert sum(by_the_clock(run).values()) == pytest.approx(1.25)


def test_the_script_before_a_users_job_is_no_gate() -> None:
    run = a_run(a_task(start=5, node="cat"), nodes=(NodeTimes("cat", 0, 5),))
    assert parts(run) == {"compute": 1}


@pytest.mark.parametrize("mode", ["transient", "hybrid"])
def test_what_a_jobs_own_reservation_stages_out_is_staging_out(mode: str) -> None:
    cat = NodeTimes("cat", terminated=5, ended=9)
    run = a_run(a_task(node="cat", duration=5), nodes=(cat,), mode=mode)
    assert parts(run) == {"compute": 5, "stage_out": 4}


def test_a_script_that_ends_in_the_next_second_has_not_taken_one() -> None:
    def run(kind: Kind) -> Run:
        node = NodeTimes("n", terminated=5, ended=6)
        task = a_task(kind=kind, node="n", start=5, duration=0.9)
        return a_run(task, nodes=(node,), mode="transient", stretches=((5, 6),))

    assert parts(run(Kind.COMPUTE)) == pytest.approx({"compute": 0.9, "stage_out": 0.1})
    assert parts(run(Kind.STAGE_IN)) == pytest.approx({"stage_in": 0.9, "other": 0.1})


def test_a_run_of_which_nothing_is_known_has_no_parts() -> None:
    assert by_the_clock(a_run()) == {}


def test_a_run_of_records_alone_goes_from_the_first_to_the_last() -> None:
    run = a_run(a_task(start=100), a_task(start=103))
    assert parts(run) == {"compute": 2, "other": 2}
    assert tuple(by_the_clock(run)) == PARTS
