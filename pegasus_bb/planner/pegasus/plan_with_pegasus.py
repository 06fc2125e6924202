"""Planning by the real pegasus-plan: rewrite, call it, complete its submit
directory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.model.reservation import Request
from pegasus_bb.planner.darshan_preload import missing_darshan_note
from pegasus_bb.planner.drain_files import plan_drain
from pegasus_bb.planner.existing_submit_dir import check_existing
from pegasus_bb.planner.local_files import check_local_files
from pegasus_bb.planner.options import PlanOptions, runs_folder
from pegasus_bb.planner.pegasus.call import plan_argv, run_planner
from pegasus_bb.planner.pegasus.complete_submit_dir import complete_planned
from pegasus_bb.planner.pegasus.exclusive_folder import claim, planned_folder
from pegasus_bb.planner.pegasus.home import Home
from pegasus_bb.planner.pegasus.pegasus_inputs import for_pegasus, write_inputs
from pegasus_bb.planner.pegasus.pegasus_limits import (
    check_clusters,
    check_kickstart,
    check_node_names,
    check_passed,
    check_style,
    check_sub_workflows,
)
from pegasus_bb.planner.pegasus.read_submit_dir import PegasusWorkflow
from pegasus_bb.planner.pegasus.user_database import make_user_database
from pegasus_bb.planner.plan_summary import omission_notes
from pegasus_bb.planner.predictions import predict
from pegasus_bb.planner.reading import no_collection, read_and_decide, rewrite_inputs
from pegasus_bb.planner.rewrite.pass_input import Inputs
from pegasus_bb.planner.run_plan import RunPlan, plan_run
from pegasus_bb.runtime.install import install_runtime


@dataclass(frozen=True)
class PegasusResult:
    """A sealed submit directory and its inputs. A process that ends while it holds this
    need not free millions of objects."""

    submit_dir: Path
    request: Request | None
    decided: PlanningInput
    inputs: Inputs  # what pegasus-plan read
    executable: PegasusWorkflow
    printed: bytes  # by pegasus-plan
    notes: list[str]


def plan_on_tier(
    options: PlanOptions, passed: tuple[str, ...], home: Home
) -> PegasusResult:
    """Plan on a burst buffer, whole or not at all; ``passed`` is for pegasus-plan.

    Raises UsageError (a CatalogError says file, line and key; NotSealed which rule)
    and leaves nothing behind then.
    """
    with no_collection():
        decided = read_and_decide(options)
        ready = prepare(options, passed, home, decided)
        context, folder = ready.context, planned_folder(ready.context.submit_dir)
        runs = context.base_dir / runs_folder(context.label)
        with claim(context.submit_dir, options.force, runs):
            write_inputs(ready.inputs, folder)
            install_runtime(str(folder.parent), context.python)
            make_user_database(home, decided.catalogs.properties)
            printed = run_planner(ready.argv, folder, options.cwd)
            planned, decided = complete_planned(decided, context, options.force)
    return PegasusResult(
        context.submit_dir,
        context.request,
        decided,
        ready.inputs,
        planned,
        printed,
        ready.notes,
    )


@dataclass(frozen=True)
class Preparation:
    """The inputs and arguments of pegasus-plan; nothing is written yet."""

    context: RunPlan
    inputs: Inputs
    argv: list[str]
    notes: list[str]


def prepare(
    options: PlanOptions, passed: tuple[str, ...], home: Home, decided: PlanningInput
) -> Preparation:
    """Check and rewrite the inputs. Raises UsageError for all that is refused before
    pegasus-plan starts."""
    check_local_files(options, decided)
    context = plan_run(options, decided, predict(decided), plan_drain(decided))
    check_existing(context.submit_dir, options.force)
    before = Inputs.of(decided.workflow.document, decided.catalogs)
    notes = omission_notes(decided, is_builtin=False)
    notes += missing_darshan_note(decided.settings.darshan, context.darshan)
    notes += _check(passed, before, decided, context)
    folder = planned_folder(context.submit_dir)
    inputs = for_pegasus(rewrite_inputs(before, context), context, folder)
    return Preparation(context, inputs, plan_argv(home, context, folder, passed), notes)


def _check(
    passed: tuple[str, ...], inputs: Inputs, decided: PlanningInput, context: RunPlan
) -> list[str]:
    """Notes for the user. Raises CatalogError, UsageError for inputs that would
    fail."""
    placement = context.placement
    assert placement is not None  # noqa: S101 - mode off does not come here
    for tier in (placement.tier, placement.job_tier):
        check_style(decided.site, decided.catalogs, tier.backend)
    check_kickstart(inputs, context.site)
    check_node_names(decided.workflow)
    check_passed(passed, context.site)
    if context.request is None:
        return []
    if placement.job_reservations:
        check_clusters(passed, context.mode)
    return check_sub_workflows(decided, passed)
