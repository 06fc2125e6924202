"""Equations 1 to 8 of Tang et al., and the figures that the paper prints."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pegasus_bb_lab.model.applications import Application, Target
from pegasus_bb_lab.provision import equations as eq
from pegasus_bb_lab.provision.application_map import ApplicationMap, least_stripes

MB = 10**6
GB = 10**9
HDD = Target(4, MB, 12, 1536, a=0.693, b=0.163, positioning=0.0055, plateau=4.0)
targets = st.builds(
    Target,
    osts=st.integers(1, 12),
    stripe=st.sampled_from([64 * 1024, MB, 2 * MB]),
    lower=st.just(12),
    upper=st.integers(12, 2000),
    a=st.floats(0, 2),
    b=st.floats(0.01, 4),
    positioning=st.floats(0, 0.1),
    plateau=st.floats(0.1, 10),
)
loads = st.floats(0, 6 * GB)


@given(targets, loads)
def test_the_least_segment_is_that_of_brute_force(target: Target, load: float) -> None:
    fitting = range(target.lower, target.upper + 1)
    brute = next((n for n in fitting if eq.serves_all(target, n, load)), None)
    found = least_stripes(target, load)
    assert (found is None) == (brute is None)
    if found is not None and brute is not None:
        assert abs(found - brute) <= 1
        assert eq.serves_all(target, found, load)


@given(targets, loads, st.integers(12, 2000), st.integers(1, 10**15))
def test_eq_8_says_what_eq_7_says(
    target: Target, load: float, n_io: int, size: int
) -> None:
    spare = eq.shared_bandwidth(target, [size], n_io) / load - 1 if load else 1.0
    if abs(spare) > 1e-9:
        assert eq.keeps_up(target, size, n_io, load) == (spare > 0)
        assert eq.serves_all(target, n_io, load) == (spare > 0)


def test_every_change_of_the_map_gives_the_segment_size_anew() -> None:
    slow = Application("slow", GB * 60, 60.0)
    fast = Application("fast", GB * 150, 60.0)
    shared = ApplicationMap(HDD)
    assert shared.n_io == HDD.lower

    shared.register(slow)
    alone = shared.n_io
    shared.register(fast)
    together = shared.n_io
    shared.unregister(fast)

    assert HDD.lower < alone < together < HDD.upper
    assert shared.n_io == alone
    assert eq.serves_all(HDD, together, 3.5 * GB)
    assert not eq.serves_all(HDD, together - 1, 3.5 * GB)
