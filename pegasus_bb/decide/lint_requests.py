"""Refuses jobs that cannot ask for the disk of their node as the tier says."""

from __future__ import annotations

from pegasus_bb.core.units import format_size
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.model.dag.blahp import CONDOR, GRID
from pegasus_bb.model.disk_request import ARGUMENTS, DISK, DiskRequest
from pegasus_bb.model.document import Entry
from pegasus_bb.model.placement import Placement


def lint_requests(given: PlanningInput, placement: Placement) -> None:
    """Raises CatalogError if the style of the site does not carry the request, or if a
    job needs more than the tier's ``largest``."""
    tier = placement.job_tier
    if tier.request is None or not placement.job_reservations:
        return
    entry = given.catalogs.tier_entry(tier)
    _check_style(given, entry.below("request"), tier.request, tier.name)
    if tier.largest is not None:
        _check_largest(entry.below("largest"), placement, tier.largest)


def _check_style(
    given: PlanningInput, entry: Entry, request: DiskRequest, tier: str
) -> None:
    """A profile of memory reaches both kinds of batch systems."""
    site = given.site
    style = site.profile("pegasus", "style")
    style = style or given.catalogs.properties.get("pegasus.style", "")
    is_grid = style.lower() in GRID
    if request.key not in (DISK, ARGUMENTS) or is_grid == (request.key == ARGUMENTS):
        return
    form = '"--gres=nvme:{gb}"' if is_grid else f'"{DISK}={{kib}}"'
    raise entry.error(
        f"jobs reach site {site.name} in style {style or CONDOR}, which does not "
        f"carry the request of tier {tier}",
        would_do=f"one such as request: {form}",
    )


def _check_largest(entry: Entry, placement: Placement, largest: int) -> None:
    reservations = placement.job_reservations.items()
    job, own = max(reservations, key=lambda pair: pair[1].capacity)
    if own.capacity <= largest:
        return
    raise entry.error(
        f"{job} needs {format_size(own.capacity)} on its node, and tier "
        f"{placement.job_tier.name} gives a job {format_size(largest)} at most",
        would_do="fewer tasks if it is a cluster, a tier that all nodes see, or "
        "bb.tier: pfs for its largest files where nodes see the PFS",
    )
