"""A Run is data: frozen, and what nobody measured is None."""

from __future__ import annotations

import dataclasses

import pytest

from pegasus_bb.model.run import FileUse, Kind, NodeTimes, Run, Task

MEASURED = (
    *("utime", "stime", "maxrss", "rchar", "wchar", "rbytes", "wbytes"),
    *("iowait", "wrapped"),
)


def a_task() -> Task:
    return Task("cat", "ID1", "cat_ID1", Kind.COMPUTE, "cluster", 100.0, 2.5, 0)


def test_a_task_ends_when_its_duration_is_over() -> None:
    assert a_task().end == 102.5


@pytest.mark.parametrize("name", MEASURED)
def test_what_nobody_measured_is_unknown_and_not_zero(name: str) -> None:
    assert getattr(a_task(), name) is None


def test_a_run_of_which_nothing_is_known_has_no_makespan() -> None:
    run = Run(label="empty")

    assert run.makespan is None
    assert run.gate_wait is None
    assert run.tasks == run.nodes == run.problems == ()


@pytest.mark.parametrize("cls", [FileUse, Task, NodeTimes, Run])
def test_nobody_changes_what_happened(cls: type) -> None:
    assert cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
    with pytest.raises(dataclasses.FrozenInstanceError):
        a_task().exit_code = 1  # type: ignore[misc]
