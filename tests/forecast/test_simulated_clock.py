"""Processes that sleep, wait for each other, are ended, and share slots."""

from __future__ import annotations

import pytest

from pegasus_bb.forecast.simulated_clock import Process, Simulation, Slots, Steps

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


def test_a_process_waits_for_others(simulation: Simulation, log: Log) -> None:
    first = [simulation.start(sleeper(simulation, log, "a", nap)) for nap in (3, 1)]
    simulation.start(follower(simulation, log, *first))
    simulation.run()
    assert log == [("a", 1), ("a", 3), ("follower", 3)]


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


def test_slots_are_given_in_the_order_of_asking(
    simulation: Simulation, log: Log
) -> None:
    slots = Slots(3)
    for name, count, work in (("a", 2, 5.0), ("b", 2, 1.0), ("c", 1, 1.0)):
        simulation.start(worker(simulation, log, slots, name, count, work))
    simulation.run()
    assert log == [("a", 0), ("b", 5), ("c", 5)]
    assert slots.free == 3
