"""An earlier run had to wait already: its tasks do not wait twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pegasus_bb.forecast.workflow.calibration import calibrated
from pegasus_bb.model.history import History, Past
from tests.decide.user_files import job, sized, use

from .planned import PFS, planned, speeds

FOUR = [
    job(f"ID{n}", use(f"out{n}", "output", stageOut=False, **sized(0)))
    for n in range(4)
]


def test_calls_that_waited_for_the_server_are_fewer(tmp_path: Path) -> None:
    """Each of four jobs took 20 s, all sharing 100 calls a second."""
    small = replace(PFS, ops=100.0, job_ops=50.0)
    past = {f"ID{n}": Past(20.0, kernel=20.0) for n in range(4)}
    simulator, placement = planned(
        tmp_path, FOUR, speeds(pfs=small), History(jobs=past)
    )
    mode = simulator.off(placement)
    assert simulator.predict(mode).high == pytest.approx(40)
    found = calibrated(simulator, mode, dict.fromkeys(past, 20.0))
    prediction = found.predict(mode)
    assert (prediction.low, prediction.high) == pytest.approx((20, 20), rel=0.02)
    calls = [load.demand.optimistic.operations for load in found.planned.work.loads]
    assert calls == pytest.approx([500.0] * 4, rel=0.02)
