"""The time of a run: from its first sign of life, without lying still."""

from __future__ import annotations

from pegasus_bb.model.run import Kind, NodeTimes
from pegasus_bb.report.compare import compare
from pegasus_bb.report.encoding import to_document
from pegasus_bb.report.run_clock import gate_began, run_time
from tests.report.made import a_run, a_task


def test_a_run_begins_with_its_gate() -> None:
    made = a_task(node="create", kind=Kind.CREATE_DIR, start=105.0)
    gate = NodeTimes("create", pre_started=100.0, pre_ended=104.5)
    run = a_run(made, a_task(start=106.0), nodes=(NodeTimes("cat"), gate))
    assert gate_began(run) == 100.0
    assert run_time(run).begun == 100.0
    document = to_document(compare([a_run(a_task(start=7.0))], [run]))
    found = document["runs"]["bb"][0]
    assert found["gate_offset"] == 0.0
    assert [task["offset"] for task in found["tasks"]] == [5.0, 6.0]
    pfs = document["runs"]["pfs"][0]
    assert (pfs["begun"], pfs["gate_offset"], pfs["live"]) == (7.0, None, None)


def test_a_night_in_which_it_lay_still_is_not_in_it() -> None:
    stretches = ((0.0, 5.0), (50_005.0, 50_020.0))
    run = a_run(a_task(start=0.0), a_task(start=50_010.0), stretches=stretches)
    assert run_time(run).at(50_010.0) == 10.0
