"""What needs nodes that see more of the submit host than their tier, and is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NoReturn

from pegasus_bb.core.errors import CatalogError, UsageError
from pegasus_bb.core.paths import is_below
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.decide.survey import staged_executables
from pegasus_bb.model.dag.blahp import GRID
from pegasus_bb.model.placement import PFS, JobReservation, Placement
from pegasus_bb.model.tiers import SUBMIT_DIR, Tier
from pegasus_bb.model.transformations import Executable
from pegasus_bb.model.workflow import Job
from pegasus_bb.planner.options import PlanOptions, RunDirectories
from pegasus_bb.runtime.bbdir import ARCHIVE

LOCAL = "local"
_OURS = ("bin", ARCHIVE, "condor_exec.exe")
_SHARED = "submit_dir: shared, where nodes see it"
_OTHERWISE = f"or {_SHARED}"
_OF_LISTS = re.compile(r"[,\s$\"\\]")
_NO_LIST = "HTCondor's lists of files have no commas, blanks, quotes, backslashes and $"
_ALONE = "nodes see nothing of the submit host (submit_dir: local)"


def check_seen(
    options: PlanOptions,
    given: PlanningInput,
    placement: Placement,
    directories: RunDirectories,
) -> None:
    """Raises UsageError for what needs nodes that see more than their tier."""
    tier = placement.tier
    check_mode(given, tier)
    if not tier.is_reserved:
        _check_alone(given, placement, directories)
        return
    if given.scratch == str(options.scratch_beside(given.site.name)):
        _check_on_tier(given, placement)
    path = tier.settings["path"]
    if is_below(str(directories.submit_dir), path):
        return
    for option, why in _needs(given):
        would_do = f"{option}, --dir {path.rstrip('/')}/submit; {_OTHERWISE}"
        raise _refusal(given, tier, f"{why}, and nodes do not see it", would_do)


def check_mode(given: PlanningInput, tier: Tier) -> None:
    """Raises CatalogError for a mode in which jobs need more than ``tier``, which is
    all that its nodes see."""
    mode = given.settings.mode
    if tier.is_reserved and not mode.is_only_shared:
        why = f"in mode {mode} jobs work with files and notes of the submit host, and "
        why += "the nodes of this tier see nothing but the tier"
        raise _refusal(given, tier, why, f"--bb-mode persistent; {_OTHERWISE}")
    if mode.is_shared and not tier.is_reserved:
        why = f"in mode {mode} jobs work on a second tier, too, and these see their own"
        raise _refusal(given, tier, why, f"--bb-mode transient; {_OTHERWISE}")


def _check_alone(
    given: PlanningInput, placement: Placement, directories: RunDirectories
) -> None:
    """Raises UsageError for what a job of a disk cannot bring, and for what HTCondor
    cannot take back."""
    tier = placement.tier
    for option, why in _needs(given):
        raise _refusal(given, tier, f"{why}, and nodes do not see it", option)
    _check_images(given, tier)
    for job in given.workflow:
        if job.runs_on(tier.site):
            _check_job(given, placement.job_reservations.get(job.id), job)
    relative = directories.relative_dir
    for path in (given.scratch, str(directories.submit_dir), relative):
        if _OF_LISTS.search(path):
            raise UsageError(f"{path}: {_NO_LIST}; name another folder")
    name = relative.rpartition("/")[2]
    if name in _OURS or name.endswith(".json"):
        raise UsageError(
            f"--relative-dir {relative}: the scratch of the run comes with each job as "
            f"a folder {name}, beside a file of that name; another last name would do"
        )


def _check_images(given: PlanningInput, tier: Tier) -> None:
    transformations = given.catalogs.transformations
    staged = staged_executables(given.workflow, transformations, tier.site)
    images = [n for n, each in staged.items() if not isinstance(each, Executable)]
    for image in images:
        raise UsageError(
            f"{image}: the image of a container is brought to the scratch of the run, "
            f"and {_ALONE}; name one that the nodes have, or that is pulled (docker://)"
        )


def _check_job(given: PlanningInput, own: JobReservation | None, job: Job) -> None:
    """Raises CatalogError for a job whose files cannot travel."""
    for why, found, would_do in _obstacles(own, job):
        raise given.workflow.job_error(
            job,
            f"{why}, and {_ALONE}",
            found,
            would_do,
        )


def _obstacles(own: JobReservation | None, job: Job) -> Iterator[tuple[str, str, str]]:
    """Why ``job`` cannot travel: the reason, what was found, what would do."""
    if job.is_sub_workflow:
        yield "the jobs of a sub-workflow are planned when it runs", job.kind, _SHARED
    elif own is None:
        why = "a job without files on the tier works in the scratch of the run"
        yield why, job.id, f"a file of its own on the tier; {_OTHERWISE}"
    else:
        for use in job.checkpoints():
            yield f"checkpoint {use.lfn} is saved to the scratch", use.lfn, _SHARED
        on_the_tier = f"let it live on the tier; {_OTHERWISE}"
        for lfn in (*own.read, *own.write):
            yield f"{lfn} lives on the PFS", lfn, on_the_tier
        for lfn in filter(_OF_LISTS.search, own.stage_in):
            yield _NO_LIST, lfn, "another name"


def _needs(given: PlanningInput) -> Iterator[tuple[str, str]]:
    """What cannot travel: what to do about it, and why."""
    settings = given.settings
    if settings.falls_back:
        why = "with --bb-fallback pfs the first job notes in the submit directory"
        yield "leave --bb-fallback out", f"{why} which storage the run is on"
    if settings.keeps_failed:
        why = "with --bb-keep-failed jobs save their folders in the submit directory"
        yield "leave --bb-keep-failed out", why
    if settings.darshan != "off":
        why = "Darshan writes its logs to the submit directory"
        yield "leave --bb-darshan out", why
    if given.site.style in GRID:
        yield (
            "style: condor",
            "jobs reach the batch system through blahp, which hands over no files: "
            "each node opens those of the submit directory itself",
        )


def _check_on_tier(given: PlanningInput, placement: Placement) -> None:
    """Raises UsageError for a file in a folder that only the submit host has."""
    files = placement.files.values()
    found = next((f for f in files if f.tier == PFS and f.how != "link"), None)
    if found is not None:
        raise UsageError(
            f"{found.lfn} is to live on the PFS ({found.reason}), and nodes do not see "
            f"{given.scratch} (submit_dir: local). Name a folder that they see with "
            f"the key scratch of tier {placement.tier.name}, or let the file live on "
            "the tier"
        )


def check_off(given: PlanningInput) -> None:
    """Raises CatalogError where the built-in planner plans in mode off for a site whose
    nodes see a tier alone: without it there is no folder that they see."""
    site = given.site.name
    tiers = (tier for tier in given.catalogs.tiers[site] if tier.is_all_nodes_see)
    if any(job.runs_on(site) for job in given.workflow):
        tier = next(tiers)
        mode = "persistent" if tier.is_reserved else "transient"
        raise _refusal(
            given,
            tier,
            "in mode off the jobs of the built-in planner work beside the submit "
            "directory, which the nodes of this tier do not see",
            f"--bb-mode {mode}, or a plain pegasus-plan",
        )


def refuse_pegasus(given: PlanningInput, tier: Tier) -> NoReturn:
    """Raises CatalogError: jobs of pegasus-plan find their files in scratch."""
    raise _refusal(
        given,
        tier,
        "jobs that pegasus-plan has planned find their files in the scratch of the "
        "run, which the nodes of this tier do not see",
        f"--bb-planner builtin, {_OTHERWISE}",
    )


def _refusal(given: PlanningInput, tier: Tier, why: str, would_do: str) -> CatalogError:
    entry = given.catalogs.tier_entry(tier).below(SUBMIT_DIR)
    return entry.error(why, LOCAL, would_do)
