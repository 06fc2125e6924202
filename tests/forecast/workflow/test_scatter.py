"""What runs of one workload differ, every forecast may be missed by."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from pegasus_bb.forecast.workflow.prediction import scatter
from pegasus_bb.model.history import History, Past, combine


def run(makespan: float, size: int = 1000, mode: str = "off") -> History:
    return History(makespan=makespan, sizes={"f": size}, mode=mode, at_once=2)


def test_runs_that_were_repeated_are_pooled() -> None:
    runs = [run(100), run(121), run(10, mode="persistent"), run(11, mode="persistent")]
    squares = (math.log(1.21) ** 2 + math.log(1.1) ** 2) / 2
    assert scatter(combine(runs)) == pytest.approx(
        math.exp(1.645 * math.sqrt(squares / 2))
    )


def test_runs_of_other_sizes_or_modes_are_no_repetition() -> None:
    runs = [run(100), run(200, size=2000), run(50, mode="persistent"), History()]
    runs += [History(makespan=1.0), History(makespan=100.0)]  # of any workload
    assert scatter(combine(runs)) == 1.0


def test_how_many_jobs_ran_at_once_is_chance() -> None:
    assert scatter(combine([run(100), replace(run(110), at_once=1)])) > 1.1


def test_a_run_beside_a_larger_one_keeps_its_own_sizes() -> None:
    """Else what its tasks did is taken for what they do with the larger files."""
    small = replace(run(10), jobs={"j": Past(10.0)})
    large = replace(run(20, size=2000), jobs={"j": Past(20.0)})
    both = combine([small, large])
    assert both.largest_sizes == {"f": 2000}
    pasts = both.pasts("j", "t", files=[("f", 2000)])
    assert [past.duration for _, past in pasts] == [20.0, 20.0]
