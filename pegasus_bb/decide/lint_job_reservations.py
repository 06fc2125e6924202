"""Refuses jobs that a job reservation, or its staging, cannot serve."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from pegasus_bb.core.paths import local_path
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.decide.lint_files import fits_on_directive_line
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.placement import JobReservation, Placement
from pegasus_bb.model.tiers import Tier
from pegasus_bb.model.workflow import Job, Workflow

MOST_FILES = 200_000  # of a job; with more DataWarp's staging times out
_ON_THE_PFS = "bb.tier: pfs for this file"
_OPTION = re.compile(r"(?:^|\s)(?:-N ?|--nodes[= ])(\d+)(?:-(\d+))?(?=\s|$)")


def lint_job_reservations(
    given: PlanningInput,
    placement: Placement,
    reservations: Mapping[str, JobReservation],
) -> None:
    """Raises CatalogError, with file, line and key."""
    workflow = given.workflow
    catalogs = given.catalogs
    by_system = placement.tier.is_staged
    for ident, reservation in reservations.items():
        job = workflow.jobs[ident]
        if by_system:
            _check_uses(workflow, job, placement)
        if placement.tier.is_of_one_node:
            _check_one_node(given, job, placement.tier)
        if by_system:
            name = f"job {job.id} ({job.transformation})"
            check_count(workflow, name, job.index, reservation)
            _check_names(workflow, job, reservation)
    if by_system and reservations:
        _check_folders(workflow, catalogs, placement)
    for job in workflow:
        if job.is_sub_workflow:
            raise workflow.job_error(
                job,
                "the jobs of a sub-workflow cannot have reservations of their own",
                job.kind,
                "--bb-mode persistent, or --bb-mode off",
                "type",
            )


def _check_uses(workflow: Workflow, job: Job, placement: Placement) -> None:
    for place, use in enumerate(job.uses):
        if use.kind == "checkpoint" and placement.on_tier(use.lfn):
            raise workflow.job_error(
                job,
                "a checkpoint on a reservation that Slurm empties is gone with the "
                "job, just when it is wanted",
                use.kind,
                _ON_THE_PFS,
                "uses",
                place,
                "type",
            )


def _check_one_node(given: PlanningInput, job: Job, tier: Tier) -> None:
    """Raises CatalogError if a node of the job would not see its files."""
    setting = several_nodes(given, job)
    if setting:
        raise given.workflow.job_error(
            job,
            f"job {job.id} ({job.transformation}) has files on tier {tier.name}, of "
            "which each node sees its own part alone, and it asks for several",
            setting,
            "one node for it, or bb.tier: pfs for all files that it uses",
        )


def check_count(
    workflow: Workflow, name: str, index: int, reservation: JobReservation
) -> None:
    """Raises CatalogError if ``reservation``, of job ``name``, has too many files."""
    files = len(reservation.stage_in) + len(reservation.stage_out)
    if files > MOST_FILES:
        raise workflow.document.error(
            f"{name} would have {files} files staged, and "
            f"with more than {MOST_FILES} DataWarp's staging runs out of time",
            ["jobs", index, "uses"],
            str(files),
            "one archive in their place, bb.tier: pfs for most of them, or fewer jobs "
            "in one cluster (clusters.size)",
        )


def _check_names(workflow: Workflow, job: Job, reservation: JobReservation) -> None:
    bad = next((n for n in reservation.stage_in if not fits_on_directive_line(n)), None)
    if bad is None:
        return
    place = next((i for i, use in enumerate(job.uses) if use.lfn == bad), None)
    own = ["uses", place, "lfn"] if place is not None else []
    raise workflow.job_error(
        job,
        f"an input of job {job.id} has a name that a #DW stage_in line cannot carry",
        repr(bad),
        f"a name of letters, digits and . _ / + = @ , : ~ -, or {_ON_THE_PFS}",
        *own,
    )


def _check_folders(
    workflow: Workflow, catalogs: Catalogs, placement: Placement
) -> None:
    """Refuse inputs that are folders, as far as the submit host sees them. Folders are
    among ``unknown``: only files have a size on disk."""
    folders = {lfn for lfn in placement.unknown if _is_folder(catalogs, lfn)}
    found = workflow.first_use(folders)
    if found is not None:
        _, keys, lfn = found
        raise workflow.document.error(
            f"{lfn} is a folder, and the file form of #DW stage_in takes files only",
            [*keys, "lfn"],
            lfn,
            f"{_ON_THE_PFS}, or an archive in its place",
        )


def _is_folder(catalogs: Catalogs, lfn: str) -> bool:
    for replica in catalogs.replicas.replicas.get(lfn, ()):
        try:
            path = local_path(replica.pfn)
            if path and Path(path).is_dir():
                return True
        except (OSError, ValueError):
            continue
    return False


def several_nodes(given: PlanningInput, job: Job) -> str:
    """The setting that requests several nodes for ``job``; empty if none does."""
    nodes = _setting(given, job, "nodes")
    if nodes not in ("", "0", "1"):
        return f"pegasus.nodes: {nodes}"
    arguments = _setting(given, job, "glite.arguments")
    match = _OPTION.search(arguments)
    if match and max(int(match[1]), int(match[2] or 0)) > 1:
        return f"pegasus.glite.arguments: {arguments}"
    return ""


def _setting(given: PlanningInput, job: Job, key: str) -> str:
    """The profile of ``job``, else of its program, of the site, or a property."""
    settings = (
        given.profile(job, key),
        given.site.profile("pegasus", key),
        given.catalogs.properties.get(f"pegasus.{key}"),
    )
    return next((text.strip() for text in settings if text is not None), "")
