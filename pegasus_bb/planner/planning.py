"""How a plan is made: first the mode and the planner are chosen; then read, decide,
rewrite, plan, seal, write."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol

from pegasus_bb.decide.decision import PlacementDecision, PlanningInput
from pegasus_bb.decide.place_files import decide
from pegasus_bb.decide.tier_choice import rule_of
from pegasus_bb.model.catalogs import SPEEDS
from pegasus_bb.model.settings import Properties, Settings, read_settings
from pegasus_bb.planner.existing_submit_dir import check_existing
from pegasus_bb.planner.local_files import check_local_files
from pegasus_bb.planner.omissions import omission_notes
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.pegasus_home import PegasusHome, resolve_home
from pegasus_bb.planner.plan_summary import result_lines, summary
from pegasus_bb.planner.reading import (
    check_options_apply,
    no_collection,
    properties_of,
    read,
)
from pegasus_bb.planner.rewrite.pass_input import Inputs
from pegasus_bb.planner.run_plan import RunPlan, plan_run
from pegasus_bb.planner.seal.sealing import AnyWorkflow, complete

if TYPE_CHECKING:
    from pegasus_bb.forecast.workflow.mode_choice import Compared, Predicted
    from pegasus_bb.planner.drain_plan import DrainPlan


@dataclass(frozen=True)
class ResolvedOptions:
    """The user's options with ``auto`` resolved, and the settings that follow."""

    options: PlanOptions
    properties: Properties
    settings: Settings
    home: PegasusHome | None  # the Pegasus that plans; None: the built-in planner
    predicted: Compared | None  # the comparison by which ``auto`` was resolved


def resolve_options(options: PlanOptions) -> ResolvedOptions:
    """Raises UsageError if options contradict each other, if ``auto`` has no speeds, or
    if there is no Pegasus where one is required."""
    properties = properties_of(options)
    settings = read_settings(properties, options.cwd)
    check_options_apply(options, settings)
    predicted = None
    if settings.mode.is_chosen:
        from pegasus_bb.planner.predicting import choose_mode  # slow to load

        options, predicted = choose_mode(options)
        properties = properties_of(options)
        settings = read_settings(properties, options.cwd)
    home = resolve_home(settings.planner)
    return ResolvedOptions(options, properties, settings, home, predicted)


class Planner(Protocol[AnyWorkflow]):
    """The steps that the built-in planner and pegasus-plan take each in its own way."""

    @property
    def is_builtin(self) -> bool: ...

    def check(self, given: PlanningInput, run: RunPlan) -> list[str]:
        """Notes for the user. Raises UsageError for what it cannot plan."""

    def rewrite(self, given: PlanningInput, run: RunPlan) -> Inputs:
        """The planner's input. Raises UsageError."""

    def claim(self, run: RunPlan) -> AbstractContextManager[object]:
        """Own the submit directory until it is written; a failure leaves nothing."""

    def plan(
        self, rewritten: Inputs, given: PlanningInput, run: RunPlan
    ) -> tuple[AnyWorkflow, RunPlan]:
        """The executable workflow, and ``run`` with the clusters that it has."""

    def write(
        self, executable: AnyWorkflow, given: PlanningInput, run: RunPlan
    ) -> None:
        """Write what the submit directory lacks."""

    def check_plan(self, given: PlanningInput, run: RunPlan) -> None:
        """Raises UsageError for all that ``plan`` would refuse; writes nothing."""


@dataclass(frozen=True)
class PlanResult(Generic[AnyWorkflow]):
    """A planned submit directory, what it was made from, and notes for the user. A
    process that ends while it holds this need not free millions of objects."""

    given: PlanningInput
    run: RunPlan
    executable: AnyWorkflow
    notes: tuple[str, ...]

    @property
    def submit_dir(self) -> Path:
        return self.run.submit_dir

    @property
    def summary(self) -> tuple[str, ...]:
        lines = summary(self.given, self.run.decision)
        return (*lines, *result_lines(self.given, self.run))

    def as_json(self) -> str:
        """The plan in the form of ``pegasus-plan --json``."""
        braindump = (self.submit_dir / "braindump.yml").read_text().splitlines()
        pairs = (line.split(": ", 1) for line in braindump)
        data = {key: json.loads(value) for key, value in pairs}
        data["message"] = "The workflow is planned; run it with pegasus-bb run"
        data["pegasus-run"] = f"pegasus-bb run {self.submit_dir}"
        return json.dumps(data, indent=2)


def plan(
    options: PlanOptions, planner: Planner[AnyWorkflow]
) -> PlanResult[AnyWorkflow]:
    """Turn an abstract workflow into a submit directory, whole or not at all.

    Raises UsageError (a CatalogError says file, line and key; NotSealed which rule)
    and leaves nothing behind then.
    """
    with no_collection():
        given = read(options)
        run, programs = _decide_run(options, given)
        notes = [
            *plan_notes(given, run, programs, is_builtin=planner.is_builtin),
            *planner.check(given, run),
        ]
        rewritten = planner.rewrite(given, run)
        with planner.claim(run):
            executable, run = planner.plan(rewritten, given, run)
            executable = complete(executable, given.workflow, run)
            planner.write(executable, given, run)
    return PlanResult(given, run, executable, (*notes, *executable.notes))


def _decide_run(
    options: PlanOptions, given: PlanningInput
) -> tuple[RunPlan, list[str]]:
    """Decide where files live, how results leave, and the names of the run; with notes
    on programs."""
    decision = decide(given)
    programs = check_local_files(options, given, decision)
    run = name_run(options, given, decision, _predict(given, decision))
    return run, programs


def name_run(
    options: PlanOptions,
    given: PlanningInput,
    decision: PlacementDecision | None,
    predicted: Predicted | None = None,
) -> RunPlan:
    """The names of a run, and how its results leave. Raises UsageError, also where its
    submit directory is taken."""
    drain = _plan_drain(given, decision)
    run = plan_run(options, given, decision, predicted, drain)
    check_existing(run.submit_dir, force=options.force)
    return run


def _plan_drain(
    given: PlanningInput, decision: PlacementDecision | None
) -> DrainPlan | None:
    if decision is None:
        return None
    if rule_of(given.settings, decision.placement.tier).is_at_once:
        return None
    from pegasus_bb.planner.drain_files import plan_drain  # most results leave at once

    return plan_drain(given, decision)


def _predict(
    given: PlanningInput, decision: PlacementDecision | None
) -> Predicted | None:
    if given.settings.speeds is None and SPEEDS not in given.catalogs.storage:
        return None
    from pegasus_bb.planner.predicting import predict  # slow to load

    return predict(given, decision)


def plan_notes(
    given: PlanningInput, run: RunPlan, programs: Sequence[str], *, is_builtin: bool
) -> list[str]:
    """Notes on parts of the user's input that the planner ignores, and those on
    ``programs``."""
    notes = [*omission_notes(given, is_builtin=is_builtin), *programs]
    if given.settings.darshan == "auto" and not run.darshan:
        notes.append(
            "darshan:  auto found no libdarshan.so here that works without MPI: no "
            "task is logged; --bb-darshan PATH names one"
        )
    return notes


def check_can_be_planned(
    options: PlanOptions,
    given: PlanningInput,
    decision: PlacementDecision | None,
    planner: Planner[AnyWorkflow],
) -> None:
    """Raises UsageError for everything that ``plan`` would refuse; writes nothing."""
    check_local_files(options, given, decision)
    planner.check_plan(given, name_run(options, given, decision))
