"""What earlier runs say of a task's demands: from made measurements, whose truth is
known, and from recorded ones."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.forecast.demands.demand import Demand, DemandRange, Moved
from pegasus_bb.forecast.demands.learned import demand_of
from pegasus_bb.model.history import Past
from pegasus_bb.model.speeds import Speed, Speeds

MB = 1_000_000
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


# No history.


def test_nothing_is_known_of_a_task_that_never_ran() -> None:
    found = learned()
    assert found.pessimistic == found.optimistic == Demand(0.0)
    assert found.note == "no earlier run knows it"


def test_without_a_rate_of_operations_all_but_the_bytes_is_computing() -> None:
    speeds = Speeds(4, {"pfs": Speed(8e9, 6e9, 400e6, 300e6)}, "")
    past = Past(10.0, kernel=5.0, calls=9999, metadata=50, meta_time=1.0)
    found = demand_of([("pfs", past)], Moved(400 * MB, 0, 1), speeds)
    assert found.is_known and found.optimistic == Demand(9.0)
    assert (found.source, found.note[:20]) == ("run time", "no rate of operation")


# One run.


def test_kernel_time_alone_is_a_bound() -> None:
    """None of it, or all of it, was operations."""
    found = learned(("pfs", Past(10.0, user=6.0, kernel=3.0)))
    assert found.pessimistic == Demand(10.0)
    assert found.optimistic == Demand(7.0, 3000.0)
    assert found.source == "kernel time"


def test_calls_are_the_least_and_all_but_user_time_is_the_most() -> None:
    """A file server works while the task waits for it: that is no kernel time. What
    calls add to the user time is at most 15 % of it."""
    found = learned(("pfs", Past(10.0, user=6.0, kernel=3.0, calls=500)))
    assert found.pessimistic == Demand(9.5, 500.0)
    assert found.optimistic == Demand(pytest.approx(5.1), pytest.approx(4900.0))


def test_a_task_that_only_computes_is_no_faster_anywhere() -> None:
    """Few calls slow its computing down by no more than they take."""
    past = Past(10.0, user=10.0, kernel=0.0, calls=5)
    found = learned(("pfs", past))
    assert found.pessimistic == Demand(10.0)
    assert found.optimistic == Demand(pytest.approx(9.95), pytest.approx(50.0))


def test_no_small_file_takes_more_than_ten_operations_for_a_call() -> None:
    """The kernel did something else: memory, for one."""
    found = learned(("pfs", Past(10.0, kernel=5.0, calls=100)))
    assert found.pessimistic == Demand(9.9, 100.0)
    assert found.optimistic == Demand(9.0, 1000.0)
    assert learned(("pfs", Past(10.0, kernel=5.0, calls=0))).is_known


def test_kernel_time_that_moved_bytes_is_in_the_bytes() -> None:
    moved = Moved(400 * MB, 0, 1)
    found = learned(("pfs", Past(10.0, kernel=3.0)), moved=moved)
    assert found.pessimistic == Demand(9.0)
    assert found.optimistic == Demand(7.0, 2000.0)


def test_calls_that_move_many_bytes_are_paid_by_the_bytes() -> None:
    past = Past(10.0, kernel=3.0, calls=500, read=8192 * 400)
    found = learned(("pfs", past))
    assert found.pessimistic == Demand(9.9, 100.0)
    large = replace(past, read=8192 * 1000)
    assert learned(("pfs", large)).pessimistic == Demand(10.0)


def test_bytes_may_cost_the_kernel_more_than_their_bandwidth_says() -> None:
    """A file system that looks for blocks; another one need not."""
    past = Past(10.0, kernel=3.0, calls=500, read=8192 * 1000)
    assert learned(("pfs", past)).optimistic == Demand(9.0, 1000.0)
    larger = replace(past, read=8192 * 9000)
    assert learned(("pfs", larger)).optimistic == Demand(7.0, 3000.0)
    waited = replace(larger, kernel=0.0)  # for a disk: of that nothing is known
    assert learned(("pfs", waited)).optimistic == Demand(10.0)


def test_more_calls_than_the_kernel_had_time_for_take_what_it_had() -> None:
    """Pipes are among them."""
    past = Past(10.0, user=7.0, kernel=3.0, calls=1_000_000)
    found = learned(("pfs", past))
    assert found.pessimistic == Demand(7.0, 3000.0)
    assert found.optimistic == Demand(pytest.approx(5.95), pytest.approx(4050.0))


def test_darshan_s_counts_need_no_range() -> None:
    past = Past(10.0, kernel=8.0, calls=1000, metadata=500, meta_time=0.1)
    found = learned(("pfs", past))
    assert found.is_known and found.source == "Darshan"
    assert found.optimistic == Demand(8.5, 1500.0)


def test_operations_slower_than_the_place_s_rate_count_by_their_seconds() -> None:
    past = Past(10.0, metadata=500, meta_time=4.0)
    assert learned(("pfs", past)).optimistic == Demand(6.0, 4000.0)


def test_user_time_counts_for_each_core() -> None:
    """Eight threads computed for 7 s each; the kernel worked 8 s for all of them."""
    past = Past(8.0, user=56.0, kernel=8.0)
    assert learned(("pfs", past)).optimistic == Demand(7.0, 1000.0)


def test_tasks_beside_it_had_their_share_of_the_place() -> None:
    """Four tasks did nothing but operations: 3000 a second in all are 750 for each."""
    past = Past(10.0, kernel=10.0, concurrency=4.0)
    assert learned(("pfs", past)).optimistic == Demand(0.0, 7500.0)


# Runs on two places.


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
    demand, moved = Demand(compute, operations), Moved(read, written, 3)
    pasts = made(demand, moved)
    longest = max(past.duration for _, past in pasts)
    found = learned(*pasts, moved=moved)
    for end in (found.pessimistic, found.optimistic):
        for speed in (PFS, BB):
            expected = seconds_on(speed, demand)
            assert seconds_on(speed, end) == pytest.approx(expected, abs=1e-6 * longest)


@given(st.floats(0.0, 1e5), st.integers(0, 10**7), st.integers(0, 10**7))
def test_what_darshan_counted_is_recovered(
    compute: float, data: int, metadata: int
) -> None:
    demand = Demand(compute, float(data + metadata))
    whole = seconds_on(PFS, demand)
    past = Past(whole, user=compute, calls=data, metadata=metadata, meta_time=0.0)
    found = learned(("pfs", past))
    assert found.is_known
    for speed in (PFS, BB):
        expected = seconds_on(speed, demand)
        assert seconds_on(speed, found.optimistic) == pytest.approx(expected)


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


def test_a_pair_goes_before_what_one_run_counted() -> None:
    pasts = made(Demand(5.0, 2000.0))
    counted = [(name, replace(p, metadata=1, meta_time=0.0)) for name, p in pasts]
    found = learned(*counted)
    assert found.source == "runs on two places"
    assert found.optimistic.operations == pytest.approx(2000.0)


def test_several_runs_on_a_place_are_all_fitted() -> None:
    pasts = made(Demand(5.0, 2000.0))
    off = [(name, replace(p, duration=p.duration + 0.1)) for name, p in pasts]
    found = learned(*pasts, *off).optimistic
    assert found.compute == pytest.approx(5.05)
    assert found.operations == pytest.approx(2000.0)


def test_a_task_that_was_slower_on_the_faster_place_is_a_range() -> None:
    """No number of operations explains it."""
    found = learned(("pfs", Past(10.0)), ("bb", Past(15.0)))
    assert (found.pessimistic, found.optimistic) == (Demand(15.0), Demand(10.0))
    assert "not as the rates of operations" in found.note


def test_a_gain_beyond_the_rates_is_fitted_and_said() -> None:
    found = learned(("pfs", Past(100.0)), ("bb", Past(1.0)))
    assert found.is_known and found.optimistic.compute == 0
    assert found.note.startswith("its run times are missed by up to 8")


def test_two_places_of_one_rate_are_as_one() -> None:
    speeds = Speeds(4, {"pfs": PFS, "bb": PFS}, "")
    pasts = [("pfs", Past(10.0, kernel=3.0)), ("bb", Past(10.0, kernel=3.0))]
    assert demand_of(pasts, NOTHING, speeds).source == "kernel time"


@pytest.mark.parametrize("seconds", [0.0, 1e-9, 1e9])
def test_extreme_run_times_are_no_error(seconds: float) -> None:
    past = Past(seconds, user=seconds, kernel=seconds, calls=10**9, concurrency=3.0)
    for pasts in ([("pfs", past)], [("pfs", past), ("bb", past)]):
        found = demand_of(pasts, Moved(10**15, 10**15, 10**6), SPEEDS)
        for end in (found.pessimistic, found.optimistic):
            assert 0 <= end.compute <= 1e9 and 0 <= end.operations < float("inf")
