"""A run of small files forecasts one of large files: tasks do as much more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.forecast.demands.demand import DemandRange
from pegasus_bb.model.history import History, Past, combine
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


SOME = [
    job(
        "ID0",
        use("same", "input", **sized(1000 * MB)),
        use("list", "input", **sized(5 * MB)),
    )
]


def test_work_may_grow_as_those_files_do_that_changed(tmp_path: Path) -> None:
    """1 GB that is the same does not hide that the rest has 2.5 times the bytes."""
    sizes = {"same": 1000 * MB, "list": 2 * MB}
    found = demand(tmp_path, History(jobs={"ID0": Past(100.0)}, sizes=sizes), SOME)
    moving = 1005 / 20
    assert found.pessimistic.compute == pytest.approx(100 * 2.5 - moving)
    assert found.optimistic.compute == pytest.approx(100 - moving)
    same = History(jobs={"ID0": Past(100.0)}, sizes={**sizes, "list": 5 * MB})
    assert demand(tmp_path, same, SOME).is_known


def test_the_bytes_of_a_task_grow_by_all_its_files(tmp_path: Path) -> None:
    past = Past(100.0, read=1002 * MB)
    run = History(jobs={"ID0": past}, sizes={"same": 1000 * MB, "list": 2 * MB})
    (load,) = planned(tmp_path, SOME, history=run)[0].planned.work.loads
    assert load.read == pytest.approx(1005 * MB, rel=1e-3)


def test_runs_of_two_sizes_show_which_part_grows(tmp_path: Path) -> None:
    """8 s, and 2 s for each MB of the file that changes."""
    sizes = {"same": 1000 * MB}
    one, two = (
        History(jobs={"ID0": Past(100.0 + 2 * n)}, sizes={**sizes, "list": n * MB})
        for n in (1, 3)
    )
    found = demand(tmp_path, combine([one, two]), SOME)
    assert found.is_known
    assert found.pessimistic.compute == pytest.approx(100 + 2 * 5 - 1005 / 20)
    assert "several sizes" not in found.note


def test_outputs_of_two_runs_show_it_where_files_have_other_names(
    tmp_path: Path,
) -> None:
    jobs = [job("ID0", use("new", "input"), use("out", "output", **sized(200 * MB)))]
    one, two = (
        History(transformations={"work": Past(50.0 + n / 10, made=n * MB)})
        for n in (100, 400)
    )
    found = demand(tmp_path, combine([one, two]), jobs)
    assert found.pessimistic.compute == pytest.approx(50 + 20 - 20)
    assert found.is_known


def test_runs_on_two_sides_show_nothing_of_each_other(tmp_path: Path) -> None:
    one = History(jobs={"ID0": Past(100.0)}, sizes={"same": 1, "list": MB})
    two = replace(one, place="bb", sizes={"same": 1, "list": 3 * MB})
    assert "several sizes" in demand(tmp_path, combine([one, two]), SOME).note
