"""A run of small files forecasts one of large files: tasks do as much more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.forecast.demands.demand import DemandRange
from pegasus_bb.model.history import History, Past
from tests.support.user_files import job, sized, use

from .planned import MB, planned

ONE = [job("ID0", use("in", "input", **sized(200 * MB)))]


def computing(folder: Path, history: History) -> float:
    """Seconds that the task computes at most."""
    return demand(folder, history).pessimistic.compute


def demand(
    folder: Path, history: History, jobs: list[dict[str, Any]] = ONE
) -> DemandRange:
    simulator, _ = planned(folder, jobs, history=history)
    (load,) = simulator.planned.work.loads
    return load.demand


@pytest.mark.parametrize(
    ("then", "fixed", "times"),
    [
        ({"planned_sizes": {"in": 2 * MB}}, 0.0, 100.0),
        ({"planned_sizes": {"in": 2 * MB}}, 0.5, 50.5),
        # What planning knew then compares best: a declared size may be a bound.
        ({"planned_sizes": {"in": 200 * MB}, "sizes": {"in": 2 * MB}}, 0.0, 1.0),
        ({"sizes": {"in": 195 * MB}}, 0.0, 1.0),
        ({}, 0.0, 1.0),
    ],
)
def test_what_a_task_did_grows_as_its_files_do(
    tmp_path: Path, then: dict, fixed: float, times: float
) -> None:
    moving = 200 / 20  # seconds at the rate of one job
    past = Past(10.0 + moving / times, user=8.0, fixed=fixed)
    longer = past.duration * times - moving
    found = computing(tmp_path, History(jobs={"ID0": past}, **then))
    assert found == pytest.approx(longer)


def test_a_task_of_other_files_is_as_much_larger(tmp_path: Path) -> None:
    kind = Past(10.0, made=100 * MB)
    jobs = [job("ID0", use("new", "input"), use("out", "output", **sized(200 * MB)))]
    found = demand(tmp_path, History(transformations={"work": kind}), jobs)
    assert found.pessimistic.compute == pytest.approx(2 * 10.0 - 20.0)  # of its bytes


def test_a_part_of_the_time_may_not_grow(tmp_path: Path) -> None:
    run = History(jobs={"ID0": Past(30.0)}, planned_sizes={"in": 100 * MB})
    found = demand(tmp_path, run)
    assert found.pessimistic.compute == pytest.approx(30 * 2 - 10)
    assert found.optimistic.compute == pytest.approx(30 - 10)
    assert "all of it, or none" in found.note
