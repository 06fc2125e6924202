"""A mode that took less than its simulation says that the simulation is wrong: of that
mode alone, or of all. Where no run was, forecasts have both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pegasus_bb.forecast.workflow.prediction import Prediction
from pegasus_bb.model.mean_and_error import ALIKE
from pegasus_bb.model.modes import OFF

DOUBT = "whether other modes are as much faster, where a run took less than simulated"


def with_common_cause(found: Sequence[Prediction]) -> tuple[Prediction, ...]:
    """Let the modes that no run has measured be as much shorter than their simulation
    as those that one has, or not. Runs on both sides decide by themselves."""
    measured = [each for each in found if each.is_measured]
    least = min((each.share for each in measured), default=1.0)
    has_both = len({each.mode == OFF.name for each in measured}) > 1
    if has_both or least > 1 - ALIKE:
        return tuple(found)
    return tuple(each if each.is_measured else _down_to(each, least) for each in found)


def _down_to(found: Prediction, least: float) -> Prediction:
    low = found.wait + (found.low - found.wait) * least
    rises = found.pessimistic < found.optimistic
    return replace(
        found.with_parts_times((1 + least) / 2),  # the middle of the range
        pessimistic=low if rises else found.pessimistic,
        optimistic=found.optimistic if rises else low,
        is_doubted=True,
        causes=(*found.causes, DOUBT),
    )
