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
    live, deleted, found = Counter[int](), set[int](), []
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


def test_the_same_seed_gives_the_same_trace(wanted: FlashInput) -> None:
    first, again, other = (record(wanted, seed) for seed in (1, 1, 2))
    assert first == again
    assert first.events != other.events


def test_a_file_that_outlives_the_trace_has_a_death_as_well(wanted: FlashInput) -> None:
    files = record(wanted, 0).files
    pairs = zip(files.opened, files.deleted, files.stripes, strict=True)
    assert all(opened + stripes <= deleted for opened, deleted, stripes in pairs)
    assert max(files.deleted) > 1.2 * wanted.stripes


@pytest.mark.parametrize(
    ("keep", "expected"),
    [(False, [0, 1, -1, 2, -2, -3]), (True, [0, 1, 2, -2, -1, -3])],
    ids=["intermediate", "result"],
)
def test_a_file_dies_with_its_last_reader_and_a_result_with_its_workflow(
    tmp_path: Path, keep: bool, expected: list[int]
) -> None:
    wanted = workflows(tmp_path, "chain")
    first, *others = wanted.load.kind.shapes[0].stages
    shape = Shape("chain", (replace(first, keep=keep), *others))
    kind = replace(wanted.load.kind, count=1, spread=0.0, shapes=(shape,))
    trace = record(replace(wanted, load=replace(wanted.load, kind=kind)), 0)
    of_first = (
        each
        for each in trace.events
        if not trace.files.workflow[each if each >= 0 else -each - 1]
    )
    # Every file's first stripe, and its deletion.
    assert list(dict.fromkeys(of_first)) == expected
    assert to_graph(shape)[0].last == (3 if keep else 1)


def test_the_last_reader_of_a_file_says_its_level(tmp_path: Path) -> None:
    kind = workflows(tmp_path).load.kind
    chain, diamond = (to_graph(shape) for shape in kind.shapes)
    assert [task.level for task in chain] == [0, 1, 2]
    assert [task.last for task in chain] == [1, 2, 3]  # a result outlives all levels
    assert [task.last for task in diamond] == [1, *[2] * 6, 3]
    assert diamond[7].parents == [1, 2, 3, 4, 5, 6]


def test_readers_share_the_files_of_a_stage(tmp_path: Path) -> None:
    wanted = workflows(tmp_path, "diamond").load.kind.shapes[0]
    split, work, join = wanted.stages
    shape = replace(
        wanted,
        stages=(
            replace(split, tasks=4),
            replace(work, tasks=2, reads={0: 2}),
            replace(join, tasks=8, reads={1: 1}),
        ),
    )
    parents = [task.parents for task in to_graph(shape)]
    assert parents[4:6] == [[0, 1], [2, 3]]
    assert parents[6:] == [[4]] * 4 + [[5]] * 4


def test_configurations_say_whose_lifetimes_share_a_stream(tmp_path: Path) -> None:
    """Eight users on four streams, which they get in turn: user n with user n + 4."""
    wanted, alike = users(tmp_path), {}
    for configuration in (1, 3):
        kind = replace(wanted.load.kind, configuration=configuration)
        files = record(replace(wanted, load=replace(wanted.load, kind=kind)), 0).files
        rows = zip(files.user, files.opened, files.deleted, strict=True)
        longest = [0] * 8
        for user, opened, deleted in rows:
            longest[user] = max(longest[user], deleted - opened)
        pairs = [sorted((longest[user], longest[user + 4])) for user in range(4)]
        alike[configuration] = [less / more for less, more in pairs]
        assert list(dict.fromkeys(files.user)) == list(range(8))
    assert min(alike[1]) > 0.8 > max(alike[3])
