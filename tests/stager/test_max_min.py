"""Max-min fair rates: the definition, and the faster form of the simulator."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.forecast.fair_sharing import Lane, SharedServer
from pegasus_bb.forecast.simulated_clock import Simulation
from pegasus_bb.stager.forecast import max_min_rates

TARGETS = ("lustre", "bb", "home")
SPEEDS = st.floats(1, 1e10)
USERS = st.lists(
    st.tuples(SPEEDS | st.just(math.inf), st.sets(st.sampled_from(TARGETS), min_size=1))
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


def test_without_a_target_each_is_as_fast_as_it_can() -> None:
    assert max_min_rates([(5.0, ()), (7.0, ())], {"bb": 1.0}) == [5.0, 7.0]


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
