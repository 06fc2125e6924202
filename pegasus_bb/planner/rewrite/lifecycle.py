"""Adds bb_setup and bb_delete to the abstract workflow, on the submit host.

They have no edges there. The seal orders them against the user's jobs and the nodes
that a planner adds (create_dir, stage_out, cleanup): an abstract workflow cannot name
those.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count
from typing import TypeVar

from pegasus_bb.model.default_sites import LOCAL
from pegasus_bb.model.document import Data, Document
from pegasus_bb.model.placement import PFS, Placement
from pegasus_bb.model.transformations import OS
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.planner.rewrite.pass_input import Inputs, Target

T = TypeVar("T")
JobFiles = dict[str, dict[str, T]]  # job id -> LFN -> value

SETUP = "bb_setup"
DELETE = "bb_delete"


def add_lifecycle_jobs(inputs: Inputs, plan: Target) -> Inputs:
    """Raises CatalogError if one of the names is taken."""
    _check_names(inputs)
    setup, delete = free_ids(inputs.workflow.data["jobs"])
    programs = [
        installed(SETUP, str(plan.bin / "setup"), inputs.sites, LOCAL),
        installed(DELETE, str(plan.bin / "delete"), inputs.sites, LOCAL),
    ]
    jobs = job_of_ours(SETUP, setup, LOCAL), job_of_ours(DELETE, delete, LOCAL)
    return with_jobs(inputs, jobs, programs)


def _check_names(inputs: Inputs) -> None:
    for document, key in (
        (inputs.workflow, "jobs"),
        (inputs.transformations, "transformations"),
    ):
        for index, entry in enumerate(document.data.get(key) or []):
            if entry.get("name") in (SETUP, DELETE):
                raise document.error(
                    f"{SETUP} and {DELETE} are the names of the jobs that reserve the "
                    "buffer and give it back; planning adds them itself",
                    [key, index, "name"],
                    entry["name"],
                    "take it out, or choose another name",
                )


def free_ids(jobs: list[Data]) -> tuple[str, str]:
    """Two ids that none of ``jobs`` has."""
    taken = {str(job["id"]) for job in jobs}
    free = (f"BB{n:07d}" for n in count(1) if f"BB{n:07d}" not in taken)
    return next(free), next(free)


def with_jobs(inputs: Inputs, jobs: Iterable[Data], programs: Iterable[Data]) -> Inputs:
    """``inputs`` with ``jobs`` and ``programs`` at the ends of their lists."""
    data = inputs.workflow.data
    added = with_programs(inputs, programs)
    return added.with_data(workflow={**data, "jobs": [*data["jobs"], *jobs]})


def job_of_ours(name: str, ident: str, site: str) -> Data:
    """A job on ``site`` without arguments and files."""
    return {
        "type": "job",
        "name": name,
        "id": ident,
        "arguments": [],
        "uses": [],
        "profiles": {"selector": {"execution.site": site}},
    }


def installed(name: str, pfn: str, sites: Document, site: str) -> Data:
    """The entry of a program on ``site``, with what the catalog says of its system:
    pegasus-plan runs there only programs of just that system."""
    known = (entry for entry in sites.data["sites"] if entry["name"] == site)
    system = {k: entry[k] for entry in known for k in ("arch", *OS) if k in entry}
    place = {"name": site, "pfn": pfn, "type": "installed", **system}
    return {"name": name, "sites": [place]}


def with_programs(inputs: Inputs, programs: Iterable[Data]) -> Inputs:
    """``inputs`` with ``programs`` at the end of the transformation catalog."""
    data = inputs.transformations.data
    programs = [*inputs.programs, *programs]
    return inputs.with_data(transformations={**data, "transformations": programs})


def links(workflow: Workflow, placement: Placement, pfs_scratch: str) -> JobFiles[str]:
    """Job -> LFN -> path below ``pfs_scratch``, of the files that it writes there."""
    wanted = {
        file.lfn: f"{pfs_scratch.rstrip('/')}/{file.lfn}"
        for file in placement.files.values()
        if file.tier == PFS and file.how == "write"
    }
    return _by_writer(workflow, wanted)


def outputs_beside_links(
    workflow: Workflow, placement: Placement, scratch: str
) -> JobFiles[str]:
    """Job -> LFN -> path in ``scratch``, of the outputs of jobs that read links to the
    PFS: a task may rename such a link to its output, and a clean-up of the input takes
    what it leads to."""
    files = placement.files.values()
    linked = {file.lfn for file in files if file.tier == PFS and file.how != "link"}
    return {
        job.id: {use.lfn: f"{scratch}/{use.lfn}" for use in job.outputs()}
        for job in (workflow.jobs.values() if linked else ())
        if any(use.lfn in linked for use in job.inputs())
    }


def pools_of_jobs(workflow: Workflow, placement: Placement) -> JobFiles[str]:
    """Job -> LFN -> pool of the tier, of the files that it writes there."""
    wanted = {file.lfn: file.pool for file in placement.files.values() if file.pool}
    return _by_writer(workflow, wanted)


def _by_writer(workflow: Workflow, wanted: Mapping[str, T]) -> JobFiles[T]:
    """Job -> LFN -> value in ``wanted``, of the files that the job writes."""
    by_job: JobFiles[T] = {}
    for job in workflow.jobs.values() if wanted else ():
        for use in job.uses:
            if use.kind != "input" and use.lfn in wanted:
                by_job.setdefault(job.id, {})[use.lfn] = wanted[use.lfn]
    return by_job
