"""What earlier runs say of a task's demands: from made measurements, whose truth is
known, and from recorded ones."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.forecast.demands.demand import Demand, DemandRange, Moved
from pegasus_bb.forecast.demands.learned import demand_of
from pegasus_bb.model.history import Past
from pegasus_bb.model.speeds import Speed, Speeds

NOTHING = Moved(0, 0, 0)
PFS = Speed(8e9, 6e9, 400e6, 300e6, ops=3000.0, job_ops=1000.0)
BB = Speed(80e9, 60e9, 2e9, 1.5e9, ops=60000.0, job_ops=10000.0)
SPEEDS = Speeds(4, {"pfs": PFS, "bb": BB}, "speeds.yml:1")


def learned(*pasts: tuple[str, Past], moved: Moved = NOTHING) -> DemandRange:
    return demand_of(pasts, moved, SPEEDS)


def seconds_on(speed: Speed, demand: Demand, moved: Moved = NOTHING) -> float:
    """Of a task that has the place for itself."""
    operating = demand.operations / speed.job_ops
    return demand.compute + speed.of_job(*moved) + operating


def made(demand: Demand, moved: Moved = NOTHING) -> list[tuple[str, Past]]:
    """What both runs of a task with that demand show."""
    return [
        (name, Past(seconds_on(speed, demand, moved)))
        for name, speed in SPEEDS.places.items()
    ]


@given(
    st.floats(0.0, 1e5),
    st.floats(0.0, 1e7),
    st.integers(0, 10**12),
    st.integers(0, 10**12),
)
def test_demands_are_recovered_from_runs_on_two_places(
    compute: float, operations: float, read: int, written: int
) -> None:
    demand = Demand(compute, operations)
    moved = Moved(read, written, 3)
    pasts = made(demand, moved)
    longest = max(past.duration for _, past in pasts)
    found = learned(*pasts, moved=moved)
    for end in (found.pessimistic, found.optimistic):
        for speed in (PFS, BB):
            expected = seconds_on(speed, demand)
            assert seconds_on(speed, end) == pytest.approx(expected, abs=1e-6 * longest)


@given(
    st.floats(0.0, 1e5),
    st.floats(0.0, 1e7),
    st.floats(0.11, 1.0),
    st.floats(0.0, 2.0),
)
def test_the_truth_is_inside_of_a_range(
    compute: float, operations: float, counted: float, more: float
) -> None:
    """A part of the operations was counted; the kernel worked for other things too."""
    demand = Demand(compute, operations)
    kernel = operations / PFS.job_ops + more
    past = Past(
        seconds_on(PFS, demand) + more,
        kernel=kernel,
        calls=math.ceil(counted * operations),
    )
    found = learned(("pfs", past))
    ends = (found.pessimistic, found.optimistic)
    least, most = (end.operations for end in ends)
    assert least <= operations * (1 + 1e-9) + 1 + 1e-6
    assert most >= operations * (1 - 1e-9) - 1e-6
    for end in ends:
        assert seconds_on(PFS, end) == pytest.approx(past.duration)


@pytest.mark.parametrize("seconds", [0.0, 1e-9, 1e9])
def test_extreme_run_times_are_no_error(seconds: float) -> None:
    past = Past(seconds, user=seconds, kernel=seconds, calls=10**9, concurrency=3.0)
    for pasts in ([("pfs", past)], [("pfs", past), ("bb", past)]):
        found = demand_of(pasts, Moved(10**15, 10**15, 10**6), SPEEDS)
        for end in (found.pessimistic, found.optimistic):
            assert 0 <= end.compute <= 1e9 and 0 <= end.operations < float("inf")


def test_a_fit_is_missed_by_a_part_of_the_run_time() -> None:
    """Also where bytes explain all of it on one place: of nothing there is no part."""
    moved = Moved(4 * 10**9, 0, 0)  # 10 s on the PFS, and 2 s on the tier
    pasts = ("pfs", Past(18.0)), ("pfs", Past(9.0)), ("bb", Past(3.0))
    found = learned(*pasts, moved=moved)
    percent = re.search(r"missed by up to (\d+)%", found.note)
    assert percent and int(percent[1]) <= 100
