"""Traces: what users and workflows write, and when their files are deleted."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from pegasus_bb_lab.flash.flash_study import record
from pegasus_bb_lab.flash.task_graph import to_graph
from pegasus_bb_lab.flash.trace import Trace
from pegasus_bb_lab.model.flash_device import FlashInput
from pegasus_bb_lab.model.flash_workflows import Shape

from lab.tests.flash.loads import users, workflows


@pytest.fixture(params=["users", "chain", "diamond", "both"])
def wanted(tmp_path: Path, request: pytest.FixtureRequest) -> FlashInput:
    shapes = str(request.param)
    return users(tmp_path) if shapes == "users" else workflows(tmp_path, shapes)


def live_bytes(trace: Trace) -> list[int]:
    """Stripes on the tier after each event. A file that is deleted is not touched."""
    live = Counter[int]()
    deleted = set[int]()
    found = []
    total = 0
    for event in trace.events:
        if event < 0:
            assert -event - 1 not in deleted
            deleted.add(-event - 1)
            total -= live.pop(-event - 1)
        else:
            assert event not in deleted
            live[event] += 1
            total += 1
        found.append(total)
    return found


def test_a_trace_has_its_stripes_and_keeps_to_its_fill(wanted: FlashInput) -> None:
    trace = record(wanted, 0)
    assert sum(event >= 0 for event in trace.events) == wanted.stripes
    peak = max(live_bytes(trace))
    assert peak == trace.peak
    limit = wanted.load.fill * wanted.capacity
    assert 0.9 * limit <= peak <= limit


@pytest.mark.parametrize(
    ("keep", "expected"),
    [(False, [0, 1, -1, 2, -2, -3]), (True, [0, 1, 2, -2, -1, -3])],
    ids=["intermediate", "result"],
)
def test_a_file_dies_with_its_last_reader_and_a_result_with_its_workflow(
    tmp_path: Path, keep: bool, expected: list[int]
) -> None:
    wanted = workflows(tmp_path, "chain")
    first, *others = wanted.load.workflows.shapes[0].stages
    shape = Shape("chain", (replace(first, keep=keep), *others))
    kind = replace(wanted.load.workflows, count=1, spread=0.0, shapes=(shape,))
    trace = record(replace(wanted, load=replace(wanted.load, workflows=kind)), 0)
    of_first = (
        each
        for each in trace.events
        if not trace.files.workflow[each if each >= 0 else -each - 1]
    )
    # Every file's first stripe, and its deletion.
    assert list(dict.fromkeys(of_first)) == expected
    assert to_graph(shape)[0].last == (3 if keep else 1)
