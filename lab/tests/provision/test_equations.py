"""Equations 1 to 8 of Tang et al., and the figures that the paper prints."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegasus_bb_lab.model.applications import Application, Target
from pegasus_bb_lab.provision import equations as eq
from pegasus_bb_lab.provision.application_map import ApplicationMap, least_stripes
from pegasus_bb_lab.provision.provision import provision_load

MB = 10**6
GB = 10**9
TB = 10**12
HOUR = 3600.0
HDD = Target(4, MB, 12, 1536, a=0.693, b=0.163, positioning=0.0055, plateau=4.0)
TABLE_2 = [  # a, b, upper, and the bandwidth there
    (0.585, 1.044, 1536, 4.525),
    (0.693, 0.163, 1536, 4.287),
    (0.648, 0.688, 768, 4.095),
    (0.552, 3.653, 100, 5.430),
]
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


@pytest.mark.parametrize(("a", "b", "upper", "gb"), TABLE_2)
def test_eq_4_at_the_upper_bounds_of_table_2(
    a: float, b: float, upper: int, gb: float
) -> None:
    target = Target(4, MB, 12, upper, a, b)
    assert eq.segment_bandwidth(target, upper) / GB == pytest.approx(gb, abs=0.001)


def test_chimera_reactive_and_the_ideal_of_the_paper() -> None:
    chimera = Application("CHIMERA", 160 * TB, HOUR)
    rest = [(20 * TB, HOUR), (10 * GB, 60), (5 * TB, HOUR), (5 * TB, HOUR / 2)]
    rest += [(50 * GB, HOUR), (10 * GB, 60), (26 * GB, HOUR), (1.4 * GB, 60)]
    others = [
        Application(str(n), int(size), every) for n, (size, every) in enumerate(rest)
    ]

    assert eq.reactive_bandwidth([160 * TB], HOUR, 0.05) / GB == pytest.approx(
        888.9, abs=0.05
    )
    ideal = eq.load([chimera, *others])
    assert ideal / GB == pytest.approx(54.54, abs=0.01)
    assert eq.load([chimera, chimera, *others]) / GB == pytest.approx(98.99, abs=0.01)
    found = provision_load(HDD, ideal, groups=None)
    assert found is not None
    assert found.provisioned / GB == pytest.approx(55.33, abs=0.1)


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
