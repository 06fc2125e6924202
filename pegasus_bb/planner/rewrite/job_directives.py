"""With a Slurm backend a job with a job reservation names its own directives.

The file that the option names is written after planning, when the run's scratch and the
name of the node are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pegasus_bb.core.errors import UsageError
from pegasus_bb.decide.lint_files import fits_on_directive_line
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.dag.roles import id_in_names
from pegasus_bb.model.placement import JobReservation, Placement
from pegasus_bb.model.reservation import Request
from pegasus_bb.planner.rewrite.pass_input import Inputs, Keys, Target
from pegasus_bb.planner.rewrite.site_directives import (
    ARGUMENTS,
    add_shared_directives,
    checked_path,
    templates,
)
from pegasus_bb.planner.rewrite.transfer_tools import LINKS

MOST_BYTES = 3 << 20  # Slurm limits a script with its directives to 4 MiB


def directives_option(submit_dir: Path, job: str) -> str:
    """The option of sbatch for job ``job``. Raises UsageError."""
    file = submit_dir / "bb/nodes" / f"{id_in_names(job)}.bbf"
    return f"--bbf={checked_path(str(file))}"


def add_directives(inputs: Inputs, plan: Target) -> Inputs:
    """Every job of the site names the shared buffer, if there is one. A job with a job
    reservation names both in one file. A job's profile overrides all others, so it
    repeats theirs.

    Raises CatalogError if a job names a buffer of its own already.
    """
    changed = add_shared_directives(inputs, plan) if plan.is_shared else inputs
    options = _options(inputs, plan)
    return changed.with_changes({"workflow": options}) if options else changed


def _options(inputs: Inputs, plan: Target) -> dict[Keys, str]:
    """The options of jobs with a reservation, after their own arguments."""
    placement = plan.placement
    if placement.job_tier.request is not None:
        from pegasus_bb.planner.rewrite.disk_requests import requests  # few tiers ask

        return requests(inputs, placement)
    if not placement.job_tier.kind.is_slurm or not placement.job_reservations:
        return {}
    from pegasus_bb.planner.rewrite.job_profiles import JobProfiles  # in two modes

    arguments = JobProfiles(inputs, plan.site, ARGUMENTS)
    changes: dict[Keys, str] = {}
    for index, job in enumerate(inputs.workflow.data["jobs"]):
        ident = str(job["id"])
        if ident in placement.job_reservations:
            keys: Keys = ("jobs", index, "profiles", "pegasus", ARGUMENTS)
            option = directives_option(plan.submit_dir, ident)
            changes[keys] = arguments.with_option(index, job, option)
    return changes


def linked_sources(catalogs: Catalogs, placement: Placement) -> dict[str, str]:
    """Inputs that are symbolic links in the run's scratch -> their targets.

    DataWarp's staging does not copy links, so it reads the targets.
    """
    if not catalogs.properties.flag(LINKS, default=False):
        return {}
    site = placement.tier.site
    inputs = (f.lfn for f in placement.files.values() if f.how == "copy")
    targets = {lfn: catalogs.link_target(site, lfn) for lfn in inputs}
    return {lfn: path for lfn, path in targets.items() if path is not None}


def directives_of(
    request: Request,
    reservation: JobReservation,
    landing: str,
    sources: Mapping[str, str],
    shared: str = "",
) -> str:
    """The directives of a job. Results arrive in ``landing``; inputs come from
    ``sources``, else from the run's scratch. ``shared`` names the shared reservation.
    Raises UsageError.

    Results are staged out as one folder. So a file that a failed task has not written
    does not fail the staging, after which Slurm would keep the space; and each try has
    its own folder.
    """
    template = templates()
    template.filters["on_a_line"] = _on_a_line
    text: str = template.get_template(f"job.{request.backend}.bbf.j2").render(
        reservation=reservation,
        request=request,
        landing=landing,
        sources=sources,
        shared=shared,
    )
    if len(text) > MOST_BYTES:
        raise UsageError(
            f"the directives of {Path(landing).name} have {len(text)} bytes, for "
            f"{len(reservation.stage_in)} inputs, and Slurm takes {MOST_BYTES} with a "
            "job's script: bb.tier: pfs for most of these inputs, one archive in their "
            "place, or fewer jobs in one cluster (clusters.size)"
        )
    return text


def _on_a_line(value: object) -> str:
    text = str(value)
    if not fits_on_directive_line(text):
        raise UsageError(
            f"{text!r} cannot stand in a directive: it ends at blanks, and Slurm "
            "interprets other signs; letters, digits and . _ / + = @ , : ~ - can"
        )
    return text
