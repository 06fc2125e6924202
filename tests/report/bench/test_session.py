"""What is measured, in which order, and what is refused or named."""

from __future__ import annotations

import pytest

from pegasus_bb.core.units import KIB
from pegasus_bb.report.bench import session as module
from pegasus_bb.report.bench.measured_tier import MeasuredFolder
from pegasus_bb.report.bench.session import REPETITIONS, Session

from .conftest import PlayedEngine, cell

SMALL = cell(1)
LARGE = cell(4)


def test_every_cell_has_its_turn_before_any_has_another(
    tier_place: MeasuredFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = PlayedEngine()
    monkeypatch.setattr(module, "BuiltInBenchmark", lambda _: engine)
    session = Session([tier_place], [SMALL, LARGE])
    session.run()
    (tier,) = session.tiers
    assert engine.done == [SMALL, LARGE] * REPETITIONS
    assert tier.measured()[0].writes == [32 * KIB] * REPETITIONS
    assert [len(one.rates) for one in tier.operations] == [REPETITIONS] * 2
    assert tier.latency is not None and tier.latency.n == REPETITIONS
