"""The space that Slurm gives a job: `#DW jobdw`, `#BB_LUA jobbb`."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping

from pegasus_bb.core.errors import ReservationFailed, SchedulerUnreachable
from pegasus_bb.core.refusals import keep_mode, original_mode
from pegasus_bb.core.removal import remove
from pegasus_bb.model.backends import JOB_SPACES
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.job_reservation.planned import PlannedReservation, landing_of
from pegasus_bb.runtime.job_reservation.space import (
    SharedInputs,
    Space,
    check_one_node,
    fill,
    make_folders,
)
from pegasus_bb.runtime.scratch_links import checked_path
from pegasus_bb.runtime.staging.failures import check_is_there


def staged_space(
    request: Request, reservation: PlannedReservation, environ: dict[str, str]
) -> Space:
    """A space that the batch system stages in and out."""
    base = job_space(request, environ)
    results = os.path.join(base, "results")
    space = Space(
        os.path.join(base, "run"),
        os.path.join(results, reservation.job),
        True,
        time.time(),
    )
    # Before all else: if the folder is missing, stage-out fails, and Slurm keeps the
    # space of a failed job.
    os.makedirs(results, exist_ok=True)
    landing = os.path.dirname(
        landing_of(request.prefix, reservation.node, reservation.job)
    )
    check_is_there(request.prefix, "when the run began")
    os.makedirs(landing, exist_ok=True)
    make_folders(reservation, space)
    for lfn in reservation.stage_in:
        _check_staged_in(request, space, lfn)
    return space


def private_space(
    request: Request, reservation: PlannedReservation, environ: dict[str, str]
) -> Space:
    """A space that launch fills, and from which it copies results back."""
    check_one_node(environ)
    base = job_space(request, environ)
    remove(os.path.join(base, "run"))  # of this job before it was requeued
    return fill(request, reservation, base, time.time(), SharedInputs())


def refuse_space_of_another(bb: BBDir, environ: Mapping[str, str]) -> None:
    """Raises ReservationFailed where a job that is planned without a space has one.

    HTCondor's blahp names the requirements of a job after the microsecond: of two jobs
    that it submits in the same one, both get the directives of the second. Slurm stages
    this job out, too, so its folder of results is made: else it stays in the queue.
    """
    given = [
        environ[name] for name in JOB_SPACES if os.path.isdir(environ.get(name, ""))
    ]
    if not (given and bb.is_transient and bb.transient().kind.is_slurm):
        return
    for path in given:
        os.makedirs(os.path.join(path, "results"), exist_ok=True)
    raise ReservationFailed(
        f"Slurm has given this job {given[0]}, but the plan gives it no space: sbatch "
        "got the directives of another job, which HTCondor's blahp mixes up where it "
        "submits two in the same microsecond; DAGMan tries the node again"
    )


def job_space(request: Request, environ: dict[str, str]) -> str:
    """The space that the batch system mounted for this job. Raises
    ReservationFailed."""
    is_folder = not request.kind.is_mounted
    variable = "BB_JOB" if is_folder else f"DW_JOB_{request.access.upper()}"
    path = environ.get(variable, "")
    if not path.startswith("/"):
        found = repr(path) if path else "not set"
        raise ReservationFailed(
            f"${variable} is {found} in this job: {_why_no_path(request, environ)}"
        )
    if any(c < " " or c in "\"\\'" for c in path) or not os.path.isdir(path):
        raise ReservationFailed(
            f"${variable} says {path!r}, which is not a directory on this node"
        )
    required = not is_folder and request.settings.get("mount", "required") != "any"
    above = os.path.dirname(os.path.realpath(path))
    if required and os.stat(path).st_dev == os.stat(above).st_dev:
        raise ReservationFailed(
            f"${variable} says {path}, but nothing is mounted there on this node"
        )
    return path.rstrip("/")


def _check_staged_in(request: Request, space: Space, lfn: str) -> None:
    here = space.path(lfn)
    there = checked_path(request.prefix, lfn)
    wanted = os.stat(there)
    try:
        copied = os.stat(here)
    except FileNotFoundError:
        raise ReservationFailed(
            f"{lfn}: was not staged in: {here} is not there, {there} is"
        ) from None
    if copied.st_size != wanted.st_size:
        raise ReservationFailed(
            f"{lfn}: was not staged in whole: {here} has {copied.st_size} bytes, "
            f"{there} {wanted.st_size}"
        )
    keep_mode(here, original_mode(wanted.st_mode), here)  # programs are such


def _why_no_path(request: Request, environ: dict[str, str]) -> str:
    from pegasus_bb.runtime.backends.slurm import Slurm  # most jobs have their space

    number = environ.get("SLURM_JOB_ID", "")
    if not number or shutil.which("scontrol") is None:
        return "it has no space, or the space is not attached to this node"
    try:
        job = Slurm({}).job(number)
    except SchedulerUnreachable as error:
        return f"it has no space, or the space is not attached ({error})"
    if job is not None and job.fields.get("BurstBuffer"):
        return (
            f"Slurm has directives for job {number}, but gave it no path "
            f"(scontrol show job: BurstBuffer={job.fields['BurstBuffer']})"
        )
    return (
        f"sbatch was not given `{request.kind.directive}` for job {number} (scontrol "
        "show job has no BurstBuffer=)\n"
        "  likely: blahp's slurm_local_submit_attributes.sh, which passes it on, is "
        "missing on the submit host (docs/how-to/slurm-datawarp.md, administrator "
        "3), or blahp gave up on this sbatch and has submitted the node again"
    )
