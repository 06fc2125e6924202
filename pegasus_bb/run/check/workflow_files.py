"""The workflow and its files."""

from __future__ import annotations

from collections.abc import Iterator

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.units import format_files, format_size
from pegasus_bb.decide.decision import PlacementDecision, PlanningInput
from pegasus_bb.decide.lint import lint_replicas
from pegasus_bb.model.finding import Finding, note, ok, wrong
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.tiers import Tier
from pegasus_bb.planner.local_files import of_programs, of_replicas
from pegasus_bb.planner.reading import with_capacity


def of_files(placed: PlanningInput) -> Iterator[Finding]:
    placement = placed.placement
    jobs = len(placed.workflow.jobs)
    if placement is None:
        yield note(
            "workflow",
            f"{jobs} jobs, every file on the PFS: mode off",
            "--bb-mode persistent",
        )
        return
    here = sum(placement.on_tier(lfn) for lfn in placement.files)
    files = len(placement.files)
    yield ok(
        "workflow",
        f"{jobs} jobs, {files} files, {here} of them on tier {placement.tier.name} "
        f"of site {placement.tier.site}",
    )
    try:
        lint_replicas(placed.workflow, placed.catalogs, placement.files.values())
    except PegasusBBError as error:
        yield wrong("replicas", str(error))
        return
    yield from of_replicas(placed)
    yield from of_programs(placed)


def of_size(placed: PlanningInput) -> tuple[list[Finding], PlanningInput | None]:
    try:
        decided = with_capacity(placed)
    except PegasusBBError as error:
        return [wrong("capacity", str(error))], None
    if decided.decision is None:
        return [], placed
    reserved = _reserved(decided.decision.placement, placed.settings.mode)
    return [ok("capacity", f"{reserved} {_for_what(decided.decision)}")], decided


def _reserved(decided: Placement, mode: str) -> str:
    """What would be reserved, or has to be free: a node's disk is not reserved."""
    size = format_size(decided.capacity)
    jobs = decided.job_reservations
    if not jobs:
        return f"{size} would be reserved"
    if mode == "transient":
        return f"up to {size} for each of {len(jobs)} jobs {_granted(decided.tier)}"
    most = format_size(max(own.capacity for own in jobs.values()))
    if decided.job_tier.is_reserved:
        each = f"up to {most} more for each of {len(jobs)} jobs"
        return f"{size}, and {each}, would be reserved"
    each = f"up to {most} for each of {len(jobs)} jobs {_granted(decided.job_tier)}"
    return f"{size} would be reserved, and {each},"


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
