"""What comes with a job to a node that does not see the submit directory.

HTCondor puts it into the folder where the job starts, which then stands for bb/:

    condor_exec.exe (launch)  bin/  runtime.zip  request.json  <node>.json

Where the tier is the node's own disk, the files of the job come and go with it, too:
runtime/job_reservation/travelled.py has the folders.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.paths import is_below
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.model.dag.blahp import CONDOR, GRID
from pegasus_bb.model.placement import PFS, JobReservation, PlacedFile, Placement
from pegasus_bb.model.tiers import SUBMIT_DIR, Tier
from pegasus_bb.model.workflow import Job
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.runtime.bbdir import ARCHIVE, NODES
from pegasus_bb.runtime.job_reservation.planned import landing_of

if TYPE_CHECKING:
    from pegasus_bb.planner.run_plan import RunPlan

LOCAL = "local"
_OTHERWISE = "or submit_dir: shared, where nodes see it"
_ALWAYS = ("bin", ARCHIVE)
_OF_LISTS = re.compile(r"[,\s$\"\\]")  # what HTCondor's lists of files cannot have


def keys_of_traveller(run: RunPlan, scratch: str) -> dict[str, str]:
    """Submit keys of a job that travels. The files that it takes with it count from
    ``initialdir``."""
    keys = {"initialdir": str(run.submit_dir), "transfer_executable": "true"}
    if run.request is None:
        keys["initialdir"] = posixpath.dirname(scratch)
        keys["preserve_relative_paths"] = "true"
    return keys


def brought_by_traveller(
    run: RunPlan,
    node: str,
    own: JobReservation | None,
    scratch: str,
    *,
    contained: bool,
) -> str:
    """What HTCondor brings with the job of ``node``."""
    names = files_of_traveller(node, run.placement, has_container=contained)
    if own is None:
        return ", ".join(names)
    folder = posixpath.basename(scratch)
    # HTCondor leaves out of bin/ what has the path of the executable.
    files = [f"{run.submit_dir}/./{name}" for name in names]
    return ", ".join([*files, *(f"{folder}/{lfn}" for lfn in own.stage_in)])


def returned_by_traveller(run: RunPlan, node: str, scratch: str) -> str:
    """What HTCondor takes back from the job of ``node``, beside its output."""
    if run.request is not None:
        return '""'
    return landing_of(posixpath.basename(scratch), node, "").rstrip("/")


def files_of_traveller(
    node: str, placement: Placement | None, *, has_container: bool
) -> list[str]:
    """What the job of ``node`` takes with it, by path below the submit directory."""
    is_on_node = placement is not None and not placement.tier.is_reserved
    request = "transient.json" if is_on_node else "request.json"
    names = [*_ALWAYS, request, f"{NODES}/{node}.json"]
    if has_container:
        names.append("containers.json")
    if placement is not None and any(map(_is_placed_apart, placement.files.values())):
        names.append("placement.json")
    return [f"bb/{name}" for name in names]


def _is_placed_apart(file: PlacedFile) -> bool:
    """Whether launch looks up ``file`` in placement.json."""
    return file.tier == PFS or bool(file.pool or file.stream)


def check_seen(
    options: PlanOptions, given: PlanningInput, placement: Placement, submit_dir: Path
) -> None:
    """Raises UsageError for what needs nodes that see more than their tier."""
    tier = placement.tier
    entry = given.catalogs.tier_entry(tier).below(SUBMIT_DIR)
    mode = given.settings.mode
    if not tier.is_reserved:
        _check_alone(given, placement, submit_dir)
        return
    if not mode.is_only_shared:
        raise entry.error(
            f"in mode {mode} jobs work with files and notes of the submit host, and "
            "the nodes of this tier see nothing but the tier",
            LOCAL,
            f"--bb-mode persistent; {_OTHERWISE}",
        )
    if given.scratch == str(options.scratch_beside(given.site.name)):
        _check_on_tier(given, placement)
    path = tier.settings["path"]
    if is_below(str(submit_dir), path):
        return
    for option, why in _needs(given):
        would_do = f"{option}, --dir {path.rstrip('/')}/submit; {_OTHERWISE}"
        raise entry.error(f"{why}, and nodes do not see it", LOCAL, would_do)


def _check_alone(given: PlanningInput, placement: Placement, submit_dir: Path) -> None:
    """Raises UsageError for what a job cannot bring, and HTCondor cannot take back."""
    tier = placement.tier
    entry = given.catalogs.tier_entry(tier).below(SUBMIT_DIR)
    settings = given.settings
    if settings.mode.is_shared:
        why = f"in mode {settings.mode} jobs share a reservation, and see no other tier"
        raise entry.error(why, LOCAL, f"--bb-mode transient; {_OTHERWISE}")
    for option, why in _needs(given):
        raise entry.error(f"{why}, and nodes do not see it", LOCAL, option)
    for job in given.workflow.jobs.values():
        if job.runs_on(tier.site):
            _check_job(given, placement.job_reservations.get(job.id), job)
    paths = (given.scratch, str(submit_dir))
    for path in paths:
        if _OF_LISTS.search(path):
            raise UsageError(
                f"{path}: {_NO_LIST}: another folder for --dir and scratch"
            )


_NO_LIST = "HTCondor's lists of files have no commas, blanks, quotes, backslashes and $"


def _check_job(given: PlanningInput, own: JobReservation | None, job: Job) -> None:
    """Raises CatalogError for a job whose files cannot travel."""
    document = given.workflow.document

    def refuse(why: str, found: str, would_do: str) -> NoReturn:
        place = ["jobs", job.index, "uses"]
        raise document.error(
            f"{why}, and the node of job {job.id} sees nothing of the submit host "
            "(submit_dir: local)",
            place,
            found,
            would_do,
        )

    if job.is_sub_workflow:
        refuse(
            "a sub-workflow plans its jobs when it runs",
            job.kind,
            "--sites local for it",
        )
    if own is None:
        refuse(
            "a job without files on the tier has no folder there",
            job.id,
            "let one of its files live on the tier",
        )
    for lfn in (*own.read, *own.write):
        refuse(f"{lfn} lives on the PFS", lfn, "let it live on the tier")
    for use in job.checkpoints():
        refuse(
            "a checkpoint is saved to the scratch of the run",
            use.lfn,
            "the job without add_checkpoint(), or submit_dir: shared",
        )
    for lfn in own.stage_in:
        if _OF_LISTS.search(lfn):
            refuse(_NO_LIST, lfn, "another name")


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
    if (given.site.profile("pegasus", "style") or CONDOR).lower() in GRID:
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


def refuse_off(given: PlanningInput, tier: Tier) -> NoReturn:
    """Raises CatalogError: without a tier there is no folder that nodes see."""
    mode = "persistent" if tier.is_reserved else "transient"
    raise (
        given.catalogs.tier_entry(tier)
        .below(SUBMIT_DIR)
        .error(
            "in mode off the jobs of the built-in planner work beside the submit "
            "directory, which the nodes of this tier do not see",
            LOCAL,
            f"--bb-mode {mode}, or a plain pegasus-plan",
        )
    )
