"""A server that is shared fairly, against sums by hand and against one in SimPy."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.forecast.fair_sharing import Lane, SharedServer
from pegasus_bb.forecast.simulated_clock import Process, Simulation, Steps
from tests.forecast.simpy_server import Work, ends

Limits = list[tuple[float, float]]

limits = st.tuples(st.floats(1, 100), st.floats(0.5, 200))
impatient = st.builds(
    Work,
    st.floats(0, 3),
    st.integers(0, 2),
    st.floats(0.5, 50),
    st.integers(1, 4),
    st.none() | st.floats(0.01, 5),
)
three = st.lists(limits, min_size=3, max_size=3)


def served(lanes: Sequence[Lane], works: Sequence[Work]) -> list[float | None]:
    """Return when each work was done."""
    simulation = Simulation()
    SharedServer(simulation, lanes)
    when: list[float | None] = [None] * len(works)

    def ask(number: int, work: Work) -> Steps:
        yield work.start
        yield lanes[work.lane].request(work.units, work.count)
        when[number] = simulation.now

    def stop(process: Process, work: Work) -> Steps:
        yield work.start
        yield work.patience or 0.0
        process.end()

    for number, work in enumerate(works):
        process = simulation.start(ask(number, work))
        if work.patience is not None:
            simulation.start(stop(process, work))
    simulation.run()
    assert [lane.count for lane in lanes] == [0, 0, 0]
    return when


def lanes_of(rates: Limits) -> list[Lane]:
    return [Lane(whole, alone) for whole, alone in rates]


@given(three, st.lists(impatient, max_size=9))
def test_virtual_time_ends_requests_when_simpy_does(
    rates: Limits, works: list[Work]
) -> None:
    expected = ends(rates, works)
    when = served(lanes_of(rates), works)
    assert when == [one and pytest.approx(one, rel=1e-9) for one in expected]


def test_a_server_without_a_limit_of_its_own() -> None:
    """Every request takes the time of one."""
    lanes = [Lane(float("inf"), 10.0), Lane(float("inf")), Lane(1.0)]
    works = [Work(0, 0, 20, 1000), Work(1, 0, 20, 1), Work(3, 1, 5, 1)]
    assert served(lanes, works) == pytest.approx([2.0, 3.0, 3.0])
