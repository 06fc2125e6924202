"""Processes that sleep, wait for each other, are ended, and share slots."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from pegasus_bb.forecast.kernel import Process, Simulation, Steps
from pegasus_bb.forecast.slots import Slots

Log = list[tuple[str, float]]


@pytest.fixture
def simulation() -> Simulation:
    return Simulation()


@pytest.fixture
def log() -> Log:
    return []


def sleeper(simulation: Simulation, log: Log, name: str, *naps: float) -> Steps:
    for nap in naps:
        yield nap
        log.append((name, simulation.now))


def follower(simulation: Simulation, log: Log, *first: Process) -> Steps:
    yield from first
    log.append(("follower", simulation.now))


def worker(
    simulation: Simulation, log: Log, slots: Slots, name: str, count: int, work: float
) -> Steps:
    yield slots.take(count)
    log.append((name, simulation.now))
    try:
        yield work
    finally:
        slots.give(count)


def test_of_two_at_one_time_the_earlier_set_is_first(
    simulation: Simulation, log: Log
) -> None:
    simulation.start(sleeper(simulation, log, "a", 2, 1))
    simulation.start(sleeper(simulation, log, "b", 1, 1))
    simulation.run()
    assert log == [("b", 1), ("a", 2), ("b", 2), ("a", 3)]


def test_a_run_until_a_time_goes_on_later(simulation: Simulation, log: Log) -> None:
    simulation.start(sleeper(simulation, log, "a", 2, 2, 2))
    simulation.run(until=4)
    assert log == [("a", 2), ("a", 4)]
    simulation.run(until=5)
    assert simulation.now == 5
    simulation.run()
    assert simulation.now == 6


def test_a_process_waits_for_others(simulation: Simulation, log: Log) -> None:
    first = [simulation.start(sleeper(simulation, log, "a", nap)) for nap in (3, 1)]
    simulation.start(follower(simulation, log, *first))
    simulation.run()
    assert log == [("a", 1), ("a", 3), ("follower", 3)]


def test_a_job_with_thousands_of_parents_that_have_ended(
    simulation: Simulation, log: Log
) -> None:
    parents = [simulation.start(sleeper(simulation, log, "p")) for _ in range(9999)]
    simulation.start(follower(simulation, log, *parents))
    simulation.run()
    assert log == [("follower", 0)]


def test_a_chain_of_thousands_that_take_no_time(
    simulation: Simulation, log: Log
) -> None:
    slots = Slots(1)
    last = simulation.start(sleeper(simulation, log, "first", 1))
    for _ in range(9999):
        last = simulation.start(follower(simulation, [], last))
        simulation.start(worker(simulation, [], slots, "w", 1, 0))
    simulation.start(follower(simulation, log, last))
    simulation.run()
    assert log == [("first", 1), ("follower", 1)]
    assert slots.free == 1


def test_what_is_ended_does_nothing_more(simulation: Simulation, log: Log) -> None:
    asleep = simulation.start(sleeper(simulation, log, "a", 2))
    simulation.start(follower(simulation, log, asleep))

    def stop() -> Steps:
        yield 1
        asleep.end()
        asleep.end()

    simulation.start(stop())
    simulation.run()
    assert log == [("follower", 1)]
    assert asleep.is_over


def test_two_that_wait_for_one_and_the_first_ends_the_second(
    simulation: Simulation, log: Log
) -> None:
    both: list[Process] = []

    def first() -> Steps:
        yield both[0]
        log.append(("first", simulation.now))
        both[1].end()

    both.append(simulation.start(sleeper(simulation, log, "a", 1)))
    simulation.start(first())
    both.append(simulation.start(follower(simulation, log, both[0])))
    simulation.run()
    assert log == [("a", 1), ("first", 1)]


def test_slots_are_given_in_the_order_of_asking(
    simulation: Simulation, log: Log
) -> None:
    slots = Slots(3)
    for name, count, work in (("a", 2, 5.0), ("b", 2, 1.0), ("c", 1, 1.0)):
        simulation.start(worker(simulation, log, slots, name, count, work))
    simulation.run()
    assert log == [("a", 0), ("b", 5), ("c", 5)]
    assert slots.free == 3


def test_a_job_that_is_ended_in_the_queue_lets_the_next_one_go(
    simulation: Simulation, log: Log
) -> None:
    slots = Slots(2)
    simulation.start(worker(simulation, log, slots, "a", 1, 5))
    large = simulation.start(worker(simulation, log, slots, "large", 2, 5))
    simulation.start(worker(simulation, log, slots, "small", 1, 5))
    large.end()
    simulation.run()
    assert log == [("a", 0), ("small", 0)]
    assert slots.free == 2


def test_slots_of_a_job_that_is_ended_as_its_turn_comes_are_free(
    simulation: Simulation, log: Log
) -> None:
    slots = Slots(1)
    waiting: list[Process] = []

    def holder() -> Steps:
        yield slots.take()
        yield 1
        slots.give()
        waiting[0].end()

    simulation.start(holder())
    waiting.append(simulation.start(worker(simulation, log, slots, "b", 1, 1)))
    simulation.start(worker(simulation, log, slots, "c", 1, 1))
    simulation.run()
    assert log == [("c", 1)]
    assert slots.free == 1


@pytest.mark.parametrize("nap", [-1.0, math.inf, math.nan])
def test_no_time_that_does_not_come(simulation: Simulation, nap: float) -> None:
    def steps() -> Iterator[float]:
        yield nap

    with pytest.raises(ValueError, match="cannot wait"):
        simulation.start(steps())  # type: ignore[arg-type]
