"""Whether it could be planned: the workflow, its files, the capacity, the catalogs."""

from __future__ import annotations

from collections.abc import Iterator

from pegasus_bb.core.errors import PegasusBBError, SeveralObstacles, UsageError
from pegasus_bb.core.units import format_count, format_files, format_size
from pegasus_bb.decide.decision import PlacementDecision, PlanningInput
from pegasus_bb.decide.lint_files import lint_replicas
from pegasus_bb.decide.place_files import with_capacity
from pegasus_bb.model.finding import Finding, note, ok, wrong
from pegasus_bb.model.modes import RunMode
from pegasus_bb.model.tiers import Tier
from pegasus_bb.planner.builtin.planner import BuiltInPlanner
from pegasus_bb.planner.local_files import (
    notes_on_programs,
    of_images,
    of_programs,
    of_replicas,
    of_submit_dir,
)
from pegasus_bb.planner.omissions import omission_notes
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.pegasus.pegasus_limits import check_styles, check_sub_workflows
from pegasus_bb.planner.pegasus_home import PegasusHome
from pegasus_bb.planner.plan_summary import folders_line, for_jobs, what_nodes_see
from pegasus_bb.planner.planning import name_run, plan_notes
from pegasus_bb.planner.reading import no_collection
from pegasus_bb.planner.rewrite.pass_input import Inputs
from pegasus_bb.planner.rewrite.passes import rewrite_inputs
from pegasus_bb.planner.run_plan import RunPlan


def of_files(
    given: PlanningInput, decision: PlacementDecision | None
) -> Iterator[Finding]:
    jobs = len(given.workflow.jobs)
    yield ok("folders", folders_line(given).partition(":")[2].strip())
    if decision is None:
        yield note(
            "workflow",
            f"{format_count(jobs, 'job')}, every file on the PFS: mode off",
            "--bb-mode persistent",
        )
        return
    placement = decision.placement
    yield ok("nodes", what_nodes_see(placement.tier))
    here = sum(placement.on_tier(lfn) for lfn in placement.files)
    files = len(placement.files)
    yield ok(
        "workflow",
        f"{format_count(jobs, 'job')}, {format_files(files)}, {here} of them on tier "
        f"{placement.tier.name} of site {placement.tier.site}",
    )
    try:
        lint_replicas(given.workflow, given.catalogs, placement.files.values())
    except PegasusBBError as error:
        yield wrong("replicas", str(error))
        return
    yield from of_replicas(given)
    yield from of_programs(given)
    yield from of_images(given)


def of_size(
    given: PlanningInput, decision: PlacementDecision
) -> tuple[Finding, PlacementDecision | None]:
    """The finding, and the decision with its capacity."""
    try:
        decided = with_capacity(given, decision)
    except PegasusBBError as error:
        return wrong("capacity", str(error)), None
    reserved = _reserved(decided, given.settings.mode)
    return ok("capacity", f"{reserved} {_for_what(decided)}"), decided


def _reserved(decision: PlacementDecision, mode: RunMode) -> str:
    """What would be reserved, or has to be free: a node's disk is not reserved."""
    placement = decision.placement
    size = format_size(placement.capacity)
    jobs = decision.own_reservations
    if not jobs:
        return f"{size} would be reserved"
    each = for_jobs(len(jobs))
    if mode.is_only_for_jobs:
        return f"up to {size} {each} {_granted(placement.tier)}"
    most = format_size(max(own.capacity for own in jobs.values()))
    if placement.job_tier.is_reserved:
        return f"{size}, and up to {most} more {each}, would be reserved"
    free = f"up to {most} {each} {_granted(placement.job_tier)}"
    return f"{size} would be reserved, and {free},"


def _granted(tier: Tier) -> str:
    if tier.is_reserved:
        return "would be reserved"
    return f"would have to be free on its node (tier {tier.name})"


def _for_what(decision: PlacementDecision) -> str:
    placement = decision.placement
    need = f"for {format_size(placement.need)} of files"
    if placement.unknown:
        need += f" and {len(placement.unknown)} of unknown size"
    if placement.phases is not None and placement.phases.count > 1:
        need += f", in {placement.phases.count} phases"
    if decision.moved is not None:
        need += f", and {format_files(len(decision.moved.lfns))} more on the PFS"
    return need


def of_planning(
    options: PlanOptions,
    given: PlanningInput,
    decision: PlacementDecision | None,
    home: PegasusHome | None,
) -> Iterator[Finding]:
    """``home``: of the Pegasus that plans, None for the built-in planner."""
    try:
        run = name_run(options, given, decision)
    except PegasusBBError as error:
        yield wrong("submit", str(error))
        return
    yield of_submit_dir(run.submit_dir)
    try:
        with no_collection():
            if home is None:
                yield from _of_builtin(options, given, run)
            else:
                yield from _of_pegasus(given, run)
    except PegasusBBError as error:
        yield from of_refusal("catalogs", error, options)


def of_refusal(
    about: str, error: PegasusBBError, options: PlanOptions
) -> Iterator[Finding]:
    """``error``, and what else a planning would meet after it."""
    from pegasus_bb.planner.obstacles import with_all_obstacles  # few are refused

    found: list[PegasusBBError] = [error]
    if isinstance(error, UsageError):
        error = with_all_obstacles(error, options)
        if isinstance(error, SeveralObstacles):
            found = list(error.errors)
    yield from (wrong(about, str(each)) for each in found)


def _of_builtin(
    options: PlanOptions, given: PlanningInput, run: RunPlan
) -> Iterator[Finding]:
    if run.placement is not None:
        check_styles(given, run.placement)
    planner = BuiltInPlanner(options)
    planned = planner.in_memory(given, run)
    yield ok(
        "catalogs",
        f"planning works; the DAG has {format_count(len(planned.jobs), 'node')}",
    )
    notes = plan_notes(given, run, notes_on_programs(given), is_builtin=True)
    notes += planner.check(given, run)
    yield from (note("planner", text) for text in (*notes, *planned.notes))


def _of_pegasus(given: PlanningInput, run: RunPlan) -> Iterator[Finding]:
    if run.placement is None:
        yield ok("catalogs", "pegasus-plan gets them as they are")
        return
    check_styles(given, run.placement)
    notes = omission_notes(given, is_builtin=False)
    notes += check_sub_workflows(given, run.placement)
    rewrite_inputs(Inputs.of(given.workflow.document, given.catalogs), run)
    yield ok("catalogs", "nothing in them prevents a buffer")
    yield from (note("planner", text) for text in notes)
