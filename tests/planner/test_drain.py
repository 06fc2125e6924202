"""What planning refuses to pace, and what it foresees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.decide.tier_choice import rule_of
from pegasus_bb.model.drain_policies import NOW, PACED, DrainRule
from pegasus_bb.model.modes import HYBRID
from pegasus_bb.model.settings import Settings
from pegasus_bb.model.tier_drain import DrainTarget, TierDrain
from pegasus_bb.model.tiers import Tier
from pegasus_bb.planner.drain_files import plan_drain
from pegasus_bb.planner.drain_plan import DrainForecast, DrainPlan, StageOutFlow

RATE = Settings(mode=HYBRID, drain=DrainRule(PACED, 1 << 20))


def drain(runner: Any, settings: Settings) -> DrainPlan | None:
    given, _ = runner.planning()
    return plan_drain(replace(given, settings=settings), runner.context.decision)


@pytest.mark.parametrize("backend", ["datawarp", "slurm-lua"])
def test_what_the_batch_system_stages_out_is_refused_by_name(
    runner: Any, backend: str
) -> None:
    runner.hybrid(backend=backend)
    with pytest.raises(UsageError, match=f"ID3 leave .* by {backend}'s stage_out"):
        drain(runner, RATE)


def test_the_users_rule_takes_precedence_over_the_tiers() -> None:
    target = DrainTarget("pfs", 1.0)
    tier = Tier("cori", "bb", "directory", drain=TierDrain(DrainRule(PACED), target))
    assert rule_of(Settings(), tier).policy == PACED
    assert rule_of(Settings(drain=DrainRule(NOW)), tier).policy == NOW
    assert rule_of(Settings(), replace(tier, drain=None)).policy == NOW


def test_peaks_add_up_what_leaves_at_the_same_time() -> None:
    flows = [
        StageOutFlow(0.0, 10.0, 1000),
        StageOutFlow(5.0, 10.0, 1000),
        StageOutFlow(100.0, 101.0, 50),
    ]
    found = DrainForecast(0.0, 100.0, flows)
    now, paced = found.peaks(slack=0.0, aim=1.0)
    assert now == pytest.approx(300)
    assert paced == pytest.approx(50, rel=0.01), "the last have no time"
    assert found.peaks(slack=1.0, aim=1.0)[1] == pytest.approx(2050 / 200)
    assert found.peaks(slack=1.0, aim=0.5)[1] == pytest.approx(2050 / 100)


def test_results_of_a_phase_are_safe_when_it_has_computed() -> None:
    """The next phase waits for the space that they have."""
    flows = [
        StageOutFlow(0.0, 1.0, 100, due=10.0),
        StageOutFlow(5.0, 6.0, 100, due=10.0),
    ]
    flows.append(StageOutFlow(20.0, 21.0, 100))
    first, second, third = DrainForecast(0.0, 40.0, flows).windows(slack=0.5)
    assert (first.begin, second.end) == (0.0, pytest.approx(10.0))
    assert (third.begin, third.end) == (20.0, pytest.approx(60.0)), "slack is its own"
