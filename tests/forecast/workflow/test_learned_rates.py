"""Rates of operations of two places, from runs on both."""

from __future__ import annotations

import math
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.forecast.demands.demand import Moved
from pegasus_bb.forecast.demands.learned import demand_of
from pegasus_bb.forecast.workflow.calibration import fitted_speeds
from pegasus_bb.model.history import History, Past, combine
from pegasus_bb.model.speeds import Speed, Speeds

UNRATED = Speed(8e9, 6e9, 400e6, 300e6)
PFS = replace(UNRATED, ops=3000.0, job_ops=1000.0)
BB = replace(UNRATED, ops=60000.0, job_ops=10000.0)


def runs(*kinds: tuple[float, float], user: float = 0.0) -> History:
    """Of kinds of tasks: seconds on the PFS, and on the tier."""
    sides = zip(*kinds, strict=True)
    made = [
        {f"kind{n}": Past(t, user=user) for n, t in enumerate(side)} for side in sides
    ]
    pfs, bb = (
        History(p, transformations=m) for p, m in zip(("pfs", "bb"), made, strict=True)
    )
    return combine([replace(pfs, source="a"), replace(bb, source="b")])


def speeds(pfs: Speed, bb: Speed) -> Speeds:
    return Speeds(4, {"pfs": pfs, "bb": bb}, "speeds.yml:1")


@given(
    st.lists(
        st.tuples(st.floats(1e-3, 1e6), st.floats(1e-3, 1e6)), min_size=1, max_size=5
    ),
    st.booleans(),
)
def test_with_fitted_rates_a_pair_that_gained_is_explained(
    kinds: list[tuple[float, float]], rated: bool
) -> None:
    given = speeds(PFS, BB) if rated else speeds(UNRATED, UNRATED)
    history = runs(*kinds)
    found = fitted_speeds(history, given)
    for speed in found.places.values():
        assert 0 < speed.job_ops <= speed.ops < math.inf
    whole = sum(pfs for pfs, _ in kinds)
    for number, (pfs, bb) in enumerate(kinds):
        fast = 2e-3 * pfs < bb < pfs and pfs > 0.1 * whole
        if fast and found.pfs.job_ops < found.places["bb"].job_ops:
            demand = demand_of(
                history.pasts("", f"kind{number}"), Moved(0, 0, 0), found
            )
            assert demand.is_known and demand.note == ""


def test_a_tier_that_was_slower_than_declared_loses_its_rate() -> None:
    """It makes no range of both modes: the loss is the tier's."""
    history = runs((10.0, 30.0), (5.0, 12.0))
    found = fitted_speeds(history, speeds(PFS, BB))
    assert found.pfs == PFS
    assert found.places["bb"].job_ops < PFS.job_ops
    for kind in ("kind0", "kind1"):
        demand = demand_of(history.pasts("", kind), Moved(0, 0, 0), found)
        assert demand.is_known and demand.pessimistic.operations > 0
