"""Predicts a run in each mode, as commands ask for it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from pegasus_bb.core.errors import UsageError
from pegasus_bb.decide.decision import PlacementDecision, PlanningInput
from pegasus_bb.decide.declared_speeds import (
    check_tier,
    declared_speeds,
    without_speeds,
)
from pegasus_bb.decide.place_files import place, place_by_rules
from pegasus_bb.decide.survey import INPUT
from pegasus_bb.decide.tier_choice import choose_tier
from pegasus_bb.forecast.workflow.calibration import fitted_speeds
from pegasus_bb.forecast.workflow.foreign_rates import as_they_hold
from pegasus_bb.forecast.workflow.mode_choice import Compared, Predicted, choose
from pegasus_bb.forecast.workflow.simulator import PlannedWorkflow, Simulator
from pegasus_bb.forecast.workflow.workload import workload
from pegasus_bb.model.history import DEFAULT_STARTUP, most_at_once
from pegasus_bb.model.modes import PERSISTENT, PLANNED, TRANSIENT
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.speeds import Speeds
from pegasus_bb.planner.fork_worker import JOBS_FOR_A_WORKER, in_worker
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.predictions import ModePredictions
from pegasus_bb.planner.reading import read


def mode_predictions(
    given: PlanningInput, decision: PlacementDecision | None
) -> ModePredictions | None:
    """None without speeds or without a tier. Mode off is treated as if it used a tier.

    Raises CatalogError and UsageError.
    """
    speeds = declared_speeds(given)
    persistent = None if speeds is None else _persistent(given, decision)
    if speeds is None or persistent is None:
        return None
    placement = persistent.placement
    check_tier(given, speeds, placement.tier.name)
    simulator = _simulator(given, placement, speeds)
    return ModePredictions(given, decision, persistent, simulator).calibrated()


def _simulator(given: PlanningInput, placement: Placement, speeds: Speeds) -> Simulator:
    files = placement.files
    history = given.history
    ending = given.ending
    if not speeds.states_slots and (at_once := most_at_once(history)):
        speeds = replace(speeds, slots=at_once)
    speeds = fitted_speeds(history, speeds)
    work = workload(
        given.workflow, given.graph, files, speeds, history, profile=given.profile
    )
    speeds = as_they_hold(speeds, work, history)
    inputs = [f.lfn for f in files.values() if f.role == INPUT]
    catalogs = given.catalogs
    site = given.site.name
    planned = PlannedWorkflow(
        work=work,
        speeds=speeds,
        files=files,
        cleanup=ending.cleanup,
        delivered=ending.delivered,
        linked=frozenset(lfn for lfn in inputs if catalogs.is_linked(site, lfn)),
        remote=frozenset(lfn for lfn in inputs if catalogs.replicas.is_remote(lfn)),
        startup=history.startup or speeds.startup or DEFAULT_STARTUP,
        wait=history.wait or 0.0,
    )
    return Simulator(planned)


def _persistent(
    given: PlanningInput, decision: PlacementDecision | None
) -> PlacementDecision | None:
    """The decision of mode persistent, without files moved for lack of capacity. None
    if no tier can be used: in mode off the declared tiers may be wrong."""
    if decision is not None and given.settings.mode.is_only_for_jobs:
        return _shared_by_jobs(given, decision)
    if decision is not None:
        return decision.persistent or decision
    try:
        tier = choose_tier(given.catalogs, given.settings, given.site.name)
        return place_by_rules(given, tier)
    except UsageError:
        return None


def _shared_by_jobs(
    given: PlanningInput, decision: PlacementDecision
) -> PlacementDecision:
    """Mode transient's ``decision`` as mode persistent would place the files. On a tier
    that refuses that mode they stay where they are, without job reservations."""
    try:
        return place(given.in_mode(PERSISTENT)) or decision
    except UsageError:
        placement = replace(decision.placement, capacity=0, job_reservations={})
        return replace(decision, placement=placement, chains=None)


def predict(
    given: PlanningInput, decision: PlacementDecision | None
) -> Predicted | None:
    """The prediction of the planned mode, for plan.json. None without speeds or without
    a tier. Raises CatalogError and UsageError."""
    predictions = mode_predictions(given, decision)
    if predictions is None:
        return None
    found = predictions.beside_the_measured(given.settings.mode)
    return Predicted((found,), predictions.basis)


def compare(
    given: PlanningInput, decision: PlacementDecision | None
) -> Compared | None:
    """The predictions of all modes. Returns None and raises as ``predict`` does."""
    predictions = mode_predictions(given, decision)
    return None if predictions is None else compare_modes(predictions)


def compare_modes(predictions: ModePredictions) -> Compared:
    """For a large workflow a worker simulates mode transient, which takes as long as
    all other modes together."""
    is_large = len(predictions.given.workflow.jobs) >= JOBS_FOR_A_WORKER
    predictions.learn_measured()  # before the fork, so that both processes have it
    answer = predictions.answer
    modes = PLANNED.values()
    with in_worker(partial(answer, TRANSIENT), with_worker=is_large) as transient:
        answers = {mode: answer(mode) for mode in modes if mode is not TRANSIENT}
        answers[TRANSIENT] = transient()
    refused = {mode.name: answers[mode][1] for mode in modes if answers[mode][1]}
    return Compared(
        tuple(answers[mode][0] for mode in modes),
        predictions.basis,
        choose([answers[mode][0] for mode in modes], refused),
        refused,
    )


def choose_mode(options: PlanOptions) -> tuple[PlanOptions, Compared]:
    """``options`` with the mode that ``--bb-mode auto`` selects.

    Raises UsageError if no speeds are declared, and all that planning raises.
    """
    given = read(options)
    compared = compare(given, place(given))
    if compared is None:
        raise without_speeds(given, "--bb-mode auto")
    return replace(options, chosen_mode=compared.choice.mode), compared
