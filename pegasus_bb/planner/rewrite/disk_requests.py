"""Each job asks its batch system for the disk of its node, by the size of its files.

The tier's key ``request`` says how. A job's profile overrides all others, so it repeats
what they ask for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.core.units import format_size
from pegasus_bb.model.disk_request import DiskRequest
from pegasus_bb.model.placement import JobReservation, Placement
from pegasus_bb.planner.rewrite.job_profiles import JobProfiles
from pegasus_bb.planner.rewrite.pass_input import Inputs, Keys, Target
from pegasus_bb.planner.rewrite.site_directives import ARGUMENTS

DISK = "request_disk"  # a submit command of HTCondor


def requests(inputs: Inputs, plan: Target, request: DiskRequest) -> dict[Keys, str]:
    """The profile of every job with files on its node's disk. Raises CatalogError if
    one needs more than the tier's ``largest``."""
    placement = plan.placement
    settled = JobProfiles(inputs, plan.site, request.key)
    changes: dict[Keys, str] = {}
    for index, job in enumerate(inputs.workflow.data["jobs"]):
        own = placement.job_reservations.get(str(job["id"]))
        if own is None:
            continue
        _check_largest(inputs, placement, str(job["id"]), own)
        keys: Keys = ("jobs", index, "profiles", request.namespace, request.key)
        changes[keys] = _value(settled, index, job, request.of(own.capacity))
    return changes


def _value(settled: JobProfiles, index: int, job: Any, asked: str) -> str:
    """The profile of the job: its batch arguments and ``asked``; or a number, to which
    what it asks for already is added (memory), or which is no less (the disk)."""
    if settled.key == ARGUMENTS:
        return settled.with_option(index, job, asked)
    if settled.key == DISK:
        own = str(((job.get("profiles") or {}).get("condor") or {}).get(DISK, ""))
        return str(max(int(own), int(asked))) if own.isdigit() else own or asked
    setting = settled.setting(index, job)
    before = setting.value if setting else settled.of_all or ""
    return str(int(before) + int(asked)) if before.isdigit() else asked


def of_cluster(
    request: DiskRequest, each: Sequence[JobReservation], found: dict[str, Any]
) -> None:
    """Let a cluster with the profiles ``found`` ask for the sum of what its tasks ask
    for: they run in one folder."""
    whole = request.of(sum(own.capacity for own in each))
    profiles = found.setdefault(request.namespace, {})
    if request.key == DISK:
        profiles[DISK] = whole
    elif request.key == ARGUMENTS:
        text = profiles.get(ARGUMENTS, "")
        for own in each:
            text = text.replace(request.of(own.capacity), "").strip()
        profiles[ARGUMENTS] = f"{text} {whole}".strip()
    else:
        profiles[request.key] = str(int(profiles.get(request.key, "0")) + int(whole))


def _check_largest(
    inputs: Inputs, placement: Placement, job: str, own: JobReservation
) -> None:
    tier = placement.job_tier
    if tier.largest is None or own.capacity <= tier.largest:
        return
    raise CatalogError(
        f"job {job} needs {format_size(own.capacity)} on its node, and tier "
        f"{tier.name} gives a job {format_size(tier.largest)} at most",
        file=str(inputs.workflow.path),
        would_do="bb.tier: pfs for its largest files, or a tier that all nodes see",
    )
