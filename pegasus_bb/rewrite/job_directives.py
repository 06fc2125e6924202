"""With a backend of Slurm a job with a reservation of its own names its own directives.

Where the run's scratch is, and what a node is called, is known after planning; the file
that the option names is written then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pegasus_bb.errors import UsageError
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.placement import JobReservation, Placement
from pegasus_bb.model.reservation import OF_SLURM, Request
from pegasus_bb.placement.job_reservation_lint import can_stand_on_a_line
from pegasus_bb.placement.lint import link_target
from pegasus_bb.rewrite.directives import (
    ARGUMENTS,
    add_shared_directives,
    appended,
    checked_path,
    templates,
)
from pegasus_bb.rewrite.inputs import (
    Inputs,
    Keys,
    Said,
    Target,
    job_profiles,
    site_profile,
    transformation_profiles,
    with_values,
)
from pegasus_bb.rewrite.transfers import LINKS

MOST_BYTES = 3 << 20  # Slurm's own limit for a script is 4 MiB, with all else in it
_PROPERTY = f"pegasus.{ARGUMENTS}"


def directives_option(submit_dir: Path, job: str) -> str:
    """What sbatch is given for job ``job``. Raises UsageError."""
    return f"--bbf={checked_path(str(submit_dir / 'bb/nodes' / f'{job}.bbf'))}"


def add_job_directives(inputs: Inputs, plan: Target) -> Inputs:
    """A job's own profile stands before all others: it says what those say, and more.

    Raises CatalogError where a job already names a buffer of its own.
    """
    return _with(inputs, _options(inputs, plan))


def add_directives(inputs: Inputs, plan: Target) -> Inputs:
    """Every job of the site names the shared buffer, one with a reservation both
    that and its own, in one file. Raises as ``add_job_directives`` does."""
    return _with(add_shared_directives(inputs, plan), _options(inputs, plan))


def _with(inputs: Inputs, changes: dict[Keys, str]) -> Inputs:
    if not changes:
        return inputs
    return replace(inputs, workflow=with_values(inputs.workflow, changes))


def _options(inputs: Inputs, plan: Target) -> dict[Keys, str]:
    """Of jobs with a reservation, beside what was said for them."""
    placement = plan.placement
    if placement.job_tier.backend not in OF_SLURM or not placement.job_reservations:
        return {}
    said = _Said(inputs, plan.site)
    changes: dict[Keys, str] = {}
    for index, job in enumerate(inputs.workflow.data["jobs"]):
        ident = str(job["id"])
        if ident in placement.job_reservations:
            keys: Keys = ("jobs", index, "profiles", "pegasus", ARGUMENTS)
            option = directives_option(plan.submit_dir, ident)
            changes[keys] = said.with_option(index, job, option)
    return changes


def linked_sources(catalogs: Catalogs, placement: Placement) -> dict[str, str]:
    """Inputs that are symbolic links in the run's scratch -> what they lead to.

    DataWarp's staging does not carry links, so it reads from there.
    """
    if catalogs.properties.get(LINKS, "false").strip().lower() != "true":
        return {}
    site = placement.tier.site
    inputs = (f.lfn for f in placement.files.values() if f.how == "copy")
    found = {lfn: link_target(catalogs, site, lfn) for lfn in inputs}
    return {lfn: path for lfn, path in found.items() if path is not None}


def directives_of(
    request: Request,
    reservation: JobReservation,
    landing: str,
    sources: Mapping[str, str],
    shared: str = "",
) -> str:
    """The directives of a job; its results arrive in ``landing``, and inputs come from
    the run's scratch where ``sources`` name no other path. ``shared``: the name of the
    reservation that it has with all others. Raises UsageError.

    Results are staged out as one folder: what a failed task has not made cannot fail
    its staging, for which Slurm would keep the space, and each try has its own place.
    """
    template = templates()
    template.filters["on_a_line"] = _on_a_line
    text: str = template.get_template(f"slurm/job.{request.backend}.bbf.j2").render(
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
    if not can_stand_on_a_line(text):
        raise UsageError(
            f"{text!r} cannot stand in a directive: it ends at blanks, and other signs "
            "mean things to Slurm; letters, digits and . _ / + = @ , : ~ - can"
        )
    return text


class _Said:
    """What is said of batch arguments, by what and how near to a job."""

    def __init__(self, inputs: Inputs, site: str) -> None:
        self._properties = inputs.properties
        self._of_jobs = {
            int(said.keys[1]): said for said in job_profiles(inputs, ARGUMENTS)
        }
        self._site = site_profile(inputs, site, ARGUMENTS)
        self._of_programs: dict[str, Said] = {}
        programs = inputs.transformations.data.get("transformations") or []
        for said in transformation_profiles(inputs, ARGUMENTS):
            entry = programs[int(said.keys[1])]
            is_here = len(said.keys) > 5
            if is_here and entry["sites"][int(said.keys[3])].get("name") != site:
                continue
            if is_here or _name_of(entry) not in self._of_programs:
                self._of_programs[_name_of(entry)] = said

    def with_option(self, index: int, job: Any, option: str) -> str:
        said = self._of_jobs.get(index) or self._of_programs.get(_name_of(job))
        said = said or self._site
        if said is None and _PROPERTY in self._properties:
            return f"{self._properties[_PROPERTY]} {option}"
        return appended(said, option)


def _name_of(entry: Any) -> str:
    parts = (entry.get("namespace"), entry.get("name"), entry.get("version"))
    return "\0".join(str(part or "") for part in parts)
