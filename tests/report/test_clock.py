"""A run by the clock: every second is counted once, and for what counts most."""

from __future__ import annotations

import pytest

from pegasus_bb.model.run import Kind, NodeTimes, Run
from pegasus_bb.report.run_clock import by_the_clock
from tests.report.sample_runs import a_run, a_task


def parts(run: Run) -> dict[str, float]:
    """Those that are not zero."""
    return {name: seconds for name, seconds in by_the_clock(run).items() if seconds}


def test_staging_costs_only_seconds_without_a_compute_job() -> None:
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
        "reserve": 2,
        "gate_wait": 9,
        "queue": 6,
        "auxiliary": 1,
        "compute": 30,
        "release": 1,
        "other": 6,
    }
    assert sum(by_the_clock(run).values()) == 55


@pytest.mark.parametrize("mode", ["transient", "hybrid"])
def test_what_a_jobs_own_reservation_stages_out_is_staging_out(mode: str) -> None:
    cat = NodeTimes("cat", terminated=5, ended=9)
    run = a_run(a_task(node="cat", duration=5), nodes=(cat,), mode=mode)
    assert parts(run) == {"compute": 5, "stage_out": 4}
