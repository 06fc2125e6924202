"""How long tasks will take: learned from samples, the queue and fair rates included."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.core.units import MIB
from pegasus_bb.forecast.fair_sharing import Lane, SharedServer
from pegasus_bb.forecast.simulated_clock import Simulation
from pegasus_bb.runtime.stager_client.dataspace import Dataspace
from pegasus_bb.runtime.stager_client.task import StagerTask
from pegasus_bb.stager.forecast import Estimates, Forecast, Rate, max_min_rates
from pegasus_bb.stager.rates import Targets
from pegasus_bb.stager.task_queue import TaskQueue
from tests.stager.test_task_queue import task

PAIR = ("lustre", "bb")


def copy_of(number: int, size: int = 100 * MIB, **more: Any) -> StagerTask:
    places = {"source": f"lustre://{number}", "dest": f"bb://{number}"}
    return task(number, size=size, **places, **more)


def known() -> Estimates:
    """A copy of 100 MiB takes a second."""
    estimates = Estimates()
    for _ in range(20):
        estimates.learn(PAIR, 1, 100 * MIB, 1.0)
    return estimates


def seconds_left(
    *tasks: StagerTask,
    running: tuple[StagerTask, ...] = (),
    rate: float = 0.0,
    now: float = 0.0,
) -> dict[int, float]:
    """Of ``running``, each on a worker, and ``tasks``, which wait for two workers."""
    waiting = TaskQueue(workers=2)
    targets = Targets(
        {
            "lustre": Dataspace("lustre", "/lustre"),
            "bb": Dataspace("bb", "/bb", rate=rate),
        }
    )
    for each in tasks:
        waiting.add(each)
        targets.join(each)
    runs = [[each] for each in running]
    return Forecast(runs, waiting, known(), targets, now).seconds_left()


def test_after_twenty_samples_nine_of_ten_estimates_are_within_a_quarter() -> None:
    draw = random.Random(7)
    rate = Rate()
    near = 0
    for number in range(220):
        size = int(draw.lognormvariate(15, 2))
        seconds = (0.02 + size / 200e6) * draw.uniform(0.9, 1.1)
        if number >= 20:
            near += abs(rate.seconds(size) - seconds) <= seconds / 4
        rate.learn(1, size, seconds)
    assert near >= 180


def test_small_files_say_nothing_of_a_large_one() -> None:
    """A folder of 200 small files took 0.2 s; 300 MB do not take a day."""
    rate = Rate()
    for files, size, seconds in ((200, 694, 0.2), (1, 5, 0.002), (1, 2, 0.004)):
        rate.learn(files, size, seconds)
        assert rate.seconds(300_000_000) < 10


def test_what_waits_ahead_is_part_of_the_estimate() -> None:
    found = seconds_left(*map(copy_of, range(11)), copy_of(11, size=0))
    assert found[0] == pytest.approx(1.0)
    assert found[11] == pytest.approx(6.0)


def test_small_tasks_that_go_together_wait_for_each_other() -> None:
    """One worker does both, while the other has nothing to do."""
    found = seconds_left(copy_of(1, size=10 * MIB), copy_of(2, size=10 * MIB))
    assert found == pytest.approx({1: 0.1, 2: 0.2})


def test_a_rate_of_its_own_is_part_of_the_estimate() -> None:
    limited = [copy_of(number, rate=10 * MIB) for number in (1, 2)]
    found = seconds_left(*limited, copy_of(3))
    assert found == pytest.approx({1: 10.0, 2: 20.0, 3: 1.0})


def test_the_slowest_rate_and_the_largest_size_give_a_number() -> None:
    """JSON has no infinity."""
    tasks = [copy_of(number, size=(1 << 62) - 1, rate=1) for number in range(9)]
    assert all(map(math.isfinite, seconds_left(*tasks, rate=1.0).values()))


def test_the_rate_of_a_target_is_shared_by_those_who_run() -> None:
    """Two at 25 MiB/s each; the last one has all 50 MiB/s when they have ended."""
    found = seconds_left(*map(copy_of, (1, 2, 3)), rate=50 * MIB)
    assert found == pytest.approx({1: 4.0, 2: 4.0, 3: 6.0})


def test_what_a_running_task_has_moved_is_not_moved_again() -> None:
    runs = copy_of(1)
    runs.moved = 75 * MIB
    assert seconds_left(running=(runs,)) == pytest.approx({1: 0.25})


def test_a_deadline_that_has_passed_is_last_in_the_estimate_as_in_the_queue() -> None:
    late = copy_of(1, deadline=1.0)
    soon = copy_of(2, deadline=99.0)
    passes = copy_of(3, deadline=100.5)
    found = seconds_left(
        late, soon, passes, copy_of(4), running=(copy_of(9),), now=100.0
    )
    assert found == pytest.approx({9: 1.0, 3: 1.0, 4: 2.0, 1: 2.0, 2: 3.0})


TARGETS = ("lustre", "bb", "home")
SPEEDS = st.floats(1, 1e10)
USERS = st.lists(
    st.tuples(SPEEDS | st.just(math.inf), st.sets(st.sampled_from(TARGETS)))
)


@given(USERS, st.fixed_dictionaries(dict.fromkeys(TARGETS, SPEEDS)))
def test_no_target_is_overrun_and_no_capacity_is_lost(
    users: list[tuple[float, set[str]]], rates: dict[str, float]
) -> None:
    """Each is as fast as it wants, or a target of its own is full and no other that
    uses it is faster: max-min fairness."""
    speeds = max_min_rates(users, rates)
    used = {
        name: sum(
            s for s, (_, names) in zip(speeds, users, strict=True) if name in names
        )
        for name in TARGETS
    }
    assert all(used[name] <= rates[name] * (1 + 1e-6) for name in TARGETS)
    for speed, (limit, names) in zip(speeds, users, strict=True):
        full = [name for name in names if used[name] >= rates[name] * (1 - 1e-6)]
        fastest = {
            name: max(s for s, (_, n) in zip(speeds, users, strict=True) if name in n)
            for name in full
        }
        is_fair = any(speed >= fastest[name] * (1 - 1e-6) for name in full)
        assert speed == limit or is_fair


LANES = st.lists(
    st.tuples(st.floats(1, 100), st.floats(0.1, 200), st.integers(0, 5)), min_size=1
)


@given(LANES)
def test_a_shared_server_is_one_target(drawn: list[tuple[float, float, int]]) -> None:
    lanes = [Lane(whole, alone) for whole, alone, _ in drawn]
    server = SharedServer(Simulation(), lanes)
    users = []
    for lane, (_, _, count) in zip(lanes, drawn, strict=True):
        lane.count = count
        users += [(lane.most, ("server",))] * count
    server.share_time()
    shares = [lane.share for lane in lanes for _ in range(lane.count)]
    assert shares == pytest.approx(max_min_rates(users, {"server": 1.0}))
