"""What runs of one workload differ, every forecast may be missed by."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from statistics import fmean

import pytest

from pegasus_bb.forecast.workflow.prediction import scatter
from pegasus_bb.model.history import History, Past, combine
from pegasus_bb.model.mean_and_error import student_90

# Of one run more, beside one whose workload scatters by 9 %.
USUAL = pytest.approx(math.exp(1.645 * 0.09 * math.sqrt(2)), rel=1e-4)


def run(makespan: float, size: int = 1000, mode: str = "off") -> History:
    return History(makespan=makespan, sizes={"f": size}, mode=mode, at_once=2)


def test_runs_that_were_repeated_are_pooled() -> None:
    """With one run more of the usual scatter, for two runs tell little of theirs; and
    the mean of two is missed by a further run more often than the truth would be."""
    runs = [run(100), run(121), run(10, mode="persistent"), run(11, mode="persistent")]
    squares = (math.log(1.21) ** 2 + math.log(1.1) ** 2) / 2
    deviation = math.sqrt((squares + 0.09**2) / 3)
    assert scatter(combine(runs)) == pytest.approx(
        math.exp(2.353 * deviation * math.sqrt(1.5)), rel=1e-2
    )


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(2, 2.920), (3, 2.353), (5, 2.015), (30, 1.697)]
)
def test_students_t_is_that_of_the_tables(freedom: int, quantile: float) -> None:
    assert student_90(freedom) == pytest.approx(quantile, rel=0.015)


@pytest.mark.parametrize("runs", [2, 3, 4])
def test_nine_of_ten_further_runs_are_in_the_range(runs: int) -> None:
    """Of workloads that scatter as the public ones do: 9 % in the middle, and from one
    workload to the next by a factor of three."""
    draw = random.Random(runs)
    held = 0
    for _ in range(1000):
        deviation = 0.09 * math.exp(draw.gauss(0, math.log(3)))
        known = [math.exp(draw.gauss(0, deviation)) for _ in range(runs)]
        factor = scatter(combine([run(each) for each in known]))
        middle = fmean(known)
        further = math.exp(draw.gauss(0, deviation))
        held += middle / factor <= further <= middle * factor
    assert 860 <= held <= 970


def test_runs_with_another_number_of_tasks_are_no_repetition() -> None:
    one = replace(run(200), jobs={"a": Past(1.0)})
    assert scatter(combine([run(100), one])) == USUAL


def test_sizes_that_differ_a_little_are_those_of_one_workload() -> None:
    assert scatter(combine([run(100, size=1049), run(110, size=1051)])) > 1.1


def test_runs_of_other_sizes_or_modes_are_no_repetition() -> None:
    runs = [run(100), run(200, size=2000), run(50, mode="persistent"), History()]
    runs += [History(makespan=1.0), History(makespan=100.0)]  # of any workload
    assert scatter(combine(runs)) == USUAL


def test_without_a_run_nothing_scatters() -> None:
    assert scatter(History()) == 1.0


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
