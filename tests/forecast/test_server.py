"""A server that is shared fairly, against sums by hand and against one in SimPy."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.forecast.kernel import Process, Simulation, Steps
from pegasus_bb.forecast.server import Lane, ServerShare, SharedServer
from tests.forecast.simpy_server import Work, ends

Limits = list[tuple[float, float]]

limits = st.tuples(st.floats(1, 100), st.floats(0.5, 200))
works = st.builds(
    Work,
    st.integers(0, 30).map(lambda tenths: tenths / 10),
    st.integers(0, 2),
    st.floats(0, 50),
    st.integers(1, 4),
)
impatient = st.builds(
    Work,
    st.floats(0, 3),
    st.integers(0, 2),
    st.floats(0.5, 50),
    st.integers(1, 4),
    st.none() | st.floats(0.01, 5),
)
three = st.lists(limits, min_size=3, max_size=3)


class Watched(SharedServer):
    """A server that adds up what its lanes do, and checks that they can do it."""

    def __init__(self, simulation: Simulation, lanes: Sequence[Lane]) -> None:
        super().__init__(simulation, lanes)
        self.units = 0.0
        self.seen = 0.0

    def enter(self, request: ServerShare) -> None:
        self.look()
        super().enter(request)

    def leave(self, request: ServerShare) -> None:
        self.look()
        super().leave(request)

    def wake(self, alarm: int) -> None:
        self.look()
        super().wake(alarm)

    def look(self) -> None:
        """Count what was done since the last change."""
        seconds, self.seen = self._simulation.now - self.seen, self._simulation.now
        busy = [lane for lane in self.lanes if lane.count]
        if seconds > 0 and busy:
            shares = [lane.share if self._is_shared else lane.most for lane in busy]
            used = [lane.count * x for lane, x in zip(busy, shares, strict=True)]
            assert sum(used) <= 1 + 1e-12
            for lane, share, of_all in zip(busy, shares, used, strict=True):
                assert share <= lane.most
                self.units += seconds * of_all * lane.whole


def served(
    lanes: Sequence[Lane], works: Sequence[Work]
) -> tuple[list[float | None], Watched]:
    """Return when each work was done, and the server."""
    simulation = Simulation()
    server = Watched(simulation, lanes)
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
    return when, server


def lanes_of(rates: Limits) -> list[Lane]:
    return [Lane(whole, alone) for whole, alone in rates]


PLAIN: Limits = [(10.0, 100.0), (20.0, 100.0), (5.0, 1.0)]


def test_what_a_slow_request_cannot_use_is_for_the_others() -> None:
    """It takes 1 of 5 units a second: the other has four fifths of the server."""
    when, _ = served(lanes_of(PLAIN), [Work(0, 2, 10, 1), Work(0, 0, 40, 1)])
    assert when == pytest.approx([10.0, 5.0])


@given(three, st.lists(works, max_size=9))
def test_bytes_are_conserved_and_no_server_does_more_than_it_can(
    rates: Limits, works: list[Work]
) -> None:
    when, server = served(lanes_of(rates), works)
    assert None not in when
    asked = sum(work.units * work.count for work in works)
    assert server.units == pytest.approx(asked, rel=1e-9)


@given(three, st.lists(impatient, max_size=9))
def test_virtual_time_ends_requests_when_simpy_does(
    rates: Limits, works: list[Work]
) -> None:
    expected = ends(rates, works)
    when, _ = served(lanes_of(rates), works)
    assert when == [one and pytest.approx(one, rel=1e-9) for one in expected]


def test_a_server_without_a_limit_of_its_own() -> None:
    """Every request takes the time of one."""
    lanes = [Lane(float("inf"), 10.0), Lane(float("inf")), Lane(1.0)]
    works = [Work(0, 0, 20, 1000), Work(1, 0, 20, 1), Work(3, 1, 5, 1)]
    assert served(lanes, works)[0] == pytest.approx([2.0, 3.0, 3.0])
