"""How the results of a run will leave the tier: off, now, paced, or at a rate.

Pacing needs to know when the run will end; the simulation says so.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import abbreviate, format_size
from pegasus_bb.decide.decision import PlacementDecision, PlanningInput
from pegasus_bb.decide.tier_choice import rule_of
from pegasus_bb.model.drain_policies import DrainRule
from pegasus_bb.model.modes import RunMode
from pegasus_bb.model.placement import Placement
from pegasus_bb.planner.drain_plan import DrainForecast, DrainPlan, StageOutFlow

if TYPE_CHECKING:
    from pegasus_bb.forecast.workflow.execution import Execution

# The part of a window that pacing uses: with measured run times, and with a forecast,
# which may be 30 % too long.
_MEASURED = 0.96
_FORECAST = 0.76
_WORTH = 0.95  # a paced peak above this part of the unpaced one is no gain


def plan_drain(given: PlanningInput, decision: PlacementDecision) -> DrainPlan | None:
    """The drain plan; None if results leave as soon as they are written. Raises
    CatalogError, and UsageError for results that cannot be paced."""
    placement = decision.placement
    settings = given.settings
    rule = rule_of(settings, placement.tier)
    if rule.is_at_once:
        return None
    if not rule.policy.is_paced:
        return DrainPlan(rule)
    _check_can_be_paced(placement, settings.mode, rule)
    declared = placement.tier.drain
    target = declared.target if declared else None
    if rule.rate:
        return DrainPlan(rule, target)
    prediction = forecast(given, decision)
    if prediction is None:
        raise _no_forecast(given)
    slack = settings.drain_slack / 100
    return DrainPlan(rule, target, slack, _aim(given), prediction)


def _aim(given: PlanningInput) -> float:
    return _MEASURED if given.history.jobs else _FORECAST


def forecast(given: PlanningInput, decision: PlacementDecision) -> DrainForecast | None:
    """None if no speeds are declared. Raises CatalogError, UsageError."""
    # Most plannings forecast nothing, and all of it is slow to load.
    from pegasus_bb.forecast.workflow.simulator import demands_of
    from pegasus_bb.model.run import Kind
    from pegasus_bb.planner.predicting import mode_predictions

    predictions = mode_predictions(given, decision)
    if predictions is None:
        return None
    simulator = predictions.simulator
    mode = predictions.mode(given.settings.mode)
    done = simulator.execute(mode, demands_of(simulator.planned.work, 0))
    flows = list[StageOutFlow]()
    due = _due_times(done)
    for at, node in enumerate(done.outline.nodes):
        if node.kind is Kind.STAGE_OUT:
            size = sum(copy.size for copy in mode.work[at].copies)
            times = done.began[at], done.stopped[at]
            flows.append(StageOutFlow(*times, size, node.lfns, due(node.level)))
    end = max(done.stopped[: done.outline.tasks], default=0.0)
    return DrainForecast(done.gate_opened, end, flows)


def _due_times(done: Execution) -> Callable[[int], float | None]:
    """Level of a stage-out -> the end of its phase, which the next phase waits for;
    None in the last phase."""
    ends = done.rules.phases
    tasks = done.outline.nodes[: done.outline.tasks]

    def due(level: int) -> float | None:
        phase = bisect_left(ends, level)
        if phase >= len(ends) - 1:
            return None
        here = (at for at, task in enumerate(tasks) if task.level <= ends[phase])
        return max((done.stopped[at] for at in here), default=0.0)

    return cache(due)


def _check_can_be_paced(placement: Placement, mode: RunMode, rule: DrainRule) -> None:
    if mode.is_only_for_jobs:
        raise UsageError(
            f"--bb-drain {rule}: in mode transient a reservation ends with its job, so "
            "its results cannot wait. --bb-mode persistent, or --bb-drain now"
        )
    own = placement.job_reservations.items()
    jobs = sorted(job for job, reservation in own if reservation.stage_out)
    tier = placement.job_tier
    if jobs and tier.is_staged:
        raise UsageError(
            f"--bb-drain {rule}: the own results of {abbreviate(jobs)} leave tier "
            f"{tier.name} by {tier.backend}'s stage_out, which cannot be paced. "
            "--bb-mode persistent, or --bb-job-tier with a node-local tier"
        )


def _no_forecast(given: PlanningInput) -> UsageError:
    from pegasus_bb.decide.declared_speeds import without_speeds

    error = without_speeds(given, "--bb-drain paced")
    return UsageError(f"{error}, or a rate, which needs none: --bb-drain 32MiB/s")


def drain_gain(
    given: PlanningInput,
    decision: PlacementDecision,
    planned: DrainPlan | None,
) -> dict[str, Any] | None:
    """The peak rates to the PFS without and with pacing, for `explain`. None if they
    are unknown, or if no results leave. ``planned`` is the result of ``plan_drain``,
    whose forecast is used again."""
    if not given.settings.mode.is_shared:
        return None
    if not given.ending.delivered:
        return None
    prediction = planned.forecast if planned is not None else None
    prediction = prediction or forecast(given, decision)
    if prediction is None or not prediction.flows:
        return None
    now, paced = prediction.peaks(given.settings.drain_slack / 100, _aim(given))
    return {"peak_now": now, "peak_paced": paced, "wins": paced < now * _WORTH}


def gain_line(gain: dict[str, Any]) -> str:
    """The result of ``drain_gain`` as a line of text."""
    now = f"{format_size(int(gain['peak_now']))}/s"
    if not gain["wins"]:
        return (
            f"draining: nothing to win by pacing: at most {now} to the PFS either way"
        )
    paced = f"{format_size(int(gain['peak_paced']))}/s"
    return f"draining: at most {now} to the PFS now, {paced} with --bb-drain paced"
