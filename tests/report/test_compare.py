"""Runs of both sides next to each other, and the remarks that a reader needs."""

from __future__ import annotations

from typing import Any

import pytest

from pegasus_bb.model.run import Calls, LiveBytes, Problem, Run, Task
from pegasus_bb.report.compare import compare
from pegasus_bb.report.report_document import Comparison
from tests.report.sample_runs import a_run, a_task


def noted(comparison: Comparison, part: str) -> bool:
    return any(part in note for note in (*comparison.warnings, *comparison.notes))


BUSY = a_task("solver", utime=3.0)
THREADED = a_task(duration=2.0, calls=Calls(1, 1, 9.0))


def on_bb(*tasks: Task, **fields: Any) -> Run:
    return a_run(*tasks or (a_task(),), **{"mode": "persistent", **fields})


@pytest.mark.parametrize(
    ("bb", "note"),
    [
        (on_bb(a_task(iowait=0.5)), "off CPU is run time - user - system"),
        (on_bb(problems=(Problem("x.out.000", "torn"),)), "1 record could not be read"),
        (on_bb(missing=("a", "b")), "not complete: 2 nodes left no record (a, b)"),
        (on_bb(retries=3), "3 earlier attempts of nodes"),
        (
            on_bb(mode=""),
            "BB, yet its bb/plan.json names no mode: nothing says",
        ),
        (on_bb(makespan=7.0), "logs in whole seconds"),
        (on_bb(label="other"), "different workflows: demo, other"),
        (on_bb(makespan_from="records"), "makespans are from a job state log in some"),
        (on_bb(a_task(exit_code=1)), "BB run 1: 1 task failed"),
        (on_bb(a_task(), a_task()), "not every run has the same number of jobs: cat"),
        (
            on_bb(live=LiveBytes(((0.0, 3 << 20), (9.0, 0)), 2 << 20, 0)),
            "BB run 1: up to 3.0 MiB were on the tier at once, of 2.0 MiB that were",
        ),
        (
            on_bb(stretches=((0.0, 4.0), (9.0, 12.0))),
            "BB run 1 was continued after a stop or a failure",
        ),
        (
            on_bb(stretches=((0.0, 4.0), (9.0, 12.0))),
            "The 5.0 s between the last event in jobstate.log and the next start",
        ),
        (
            on_bb(clocks={"node1": 3600.0, "node2": 9.0}),
            "BB run 1: the clock of node1, node2 is up to 1 h 00 min off that of the",
        ),
        (on_bb(BUSY), "no time off CPU is given for solver"),
        (on_bb(THREADED), "1 task spent more seconds in calls than the task took"),
    ],
)
def test_a_note_has_what_a_reader_must_know(bb: Run, note: str) -> None:
    assert noted(compare([a_run(a_task())], [bb]), note)


def test_runs_that_raise_no_doubt_have_no_further_note() -> None:
    plain = a_run(a_task())
    single = a_task(calls=Calls(1, 1, 0.9))
    assert len(compare([plain], [on_bb()]).notes) == 1
    assert not noted(compare([plain], [on_bb(single)]), "more seconds in calls")
    counted = a_run(a_task(iowait=1.0))
    assert noted(compare([counted], [counted]), "I/O wait is the kernel's own count")
    record = a_run(a_task(), submit_dir="")
    assert not noted(compare([record], [record]), "names no mode")
