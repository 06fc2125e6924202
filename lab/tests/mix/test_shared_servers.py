"""Servers side by side do what as many single servers would do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegasus_bb_lab.mix.shared_servers import SharedServers

from pegasus_bb.forecast.fair_sharing import Lane, SharedServer
from pegasus_bb.forecast.simulated_clock import Process, Simulation, Steps

SERVERS = 3
Rates = list[tuple[float, float]]
# start, lane, units, requests on each server, seconds until it is cancelled
Draw = tuple[float, int, float, list[int], float | None]

rates = st.lists(
    st.tuples(st.floats(1, 100), st.floats(0.5, 200)), min_size=2, max_size=2
)
draws: st.SearchStrategy[list[Draw]] = st.lists(
    st.tuples(
        st.floats(0, 3),
        st.integers(0, 1),
        st.floats(0.5, 50),
        st.lists(st.integers(0, 4), min_size=SERVERS, max_size=SERVERS).filter(any),
        st.none() | st.floats(0.01, 5),
    ),
    max_size=8,
)


def stop(process: Process, start: float, patience: float) -> Steps:
    yield start
    yield patience
    process.end()


def run(
    simulation: Simulation, draws: list[Draw], ask: Callable[[int, Draw], Steps]
) -> None:
    for number, draw in enumerate(draws):
        process = simulation.start(ask(number, draw))
        if draw[4] is not None:
            simulation.start(stop(process, draw[0], draw[4]))
    simulation.run()


def in_a_bank(rates: Rates, draws: list[Draw]) -> list[float | None]:
    simulation = Simulation()
    servers = SharedServers(simulation, SERVERS, rates)
    ends: list[float | None] = [None] * len(draws)

    def ask(number: int, draw: Draw) -> Steps:
        yield draw[0]
        yield servers.transfer(draw[1], draw[2], np.array(draw[3]))
        ends[number] = simulation.now

    run(simulation, draws, ask)
    assert not servers.load().any()
    return ends


def one_by_one(rates: Rates, draws: list[Draw]) -> list[float | None]:
    simulation = Simulation()
    servers = [[Lane(*rate) for rate in rates] for _ in range(SERVERS)]
    for lanes in servers:
        SharedServer(simulation, lanes)
    ends: list[float | None] = [None] * len(draws)

    def part(lane: Lane, units: float, count: int) -> Steps:
        yield lane.request(units, count)

    def ask(number: int, draw: Draw) -> Steps:
        yield draw[0]
        parts = [
            simulation.start(part(servers[server][draw[1]], draw[2], count))
            for server, count in enumerate(draw[3])
            if count
        ]
        try:
            yield from parts
            ends[number] = simulation.now
        finally:
            for each in parts:
                each.end()

    run(simulation, draws, ask)
    return ends


@given(rates, draws)
def test_shared_servers_are_as_fast_as_many_single_ones(
    rates: Rates, draws: list[Draw]
) -> None:
    expected = one_by_one(rates, draws)
    ends = in_a_bank(rates, draws)
    assert ends == [end and pytest.approx(end, rel=1e-9) for end in expected]
