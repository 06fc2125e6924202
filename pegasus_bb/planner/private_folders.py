"""What launch needs to make the private folder of a job: bb/nodes/<node>.json."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.decide.survey import staged_with
from pegasus_bb.model.workflow import Job
from pegasus_bb.planner.seal.sealing import ExecutableWorkflow

_LINKS = "pegasus.transfer.links"
_DISK = ("localScratch", "local-scratch")
_DISK_VARIABLE = "PEGASUS_WN_TMP"

Needs = dict[str, Any]  # as runtime.private_folder.PrivateNeeds has it


def needs_by_node(
    planned: ExecutableWorkflow, given: PlanningInput, reserved: Collection[str]
) -> dict[str, Needs]:
    """Node -> what its private folder needs; none for jobs that have a reservation,
    which is their folder. Raises CatalogError."""
    by_job = _needs_by_job(given, planned.scratch)
    by_node: dict[str, Needs] = {}
    for job, node in planned.jobs_nodes():
        if job in by_job and job not in reserved:
            known = by_node.get(node)
            by_node[node] = _merged(known, by_job[job]) if known else by_job[job]
    return by_node


def _merged(one: Needs, other: Needs) -> Needs:
    """The needs of a cluster: it has one folder, and its later jobs find there what
    its earlier ones have made."""
    both = {**one, **other}
    for key in ("outputs", "checkpoints", "copied", "read"):
        both[key] = list(dict.fromkeys((*one.get(key, ()), *other.get(key, ()))))
    made = set(both["outputs"])
    inputs = dict.fromkeys((*one["inputs"], *other["inputs"]))
    both["inputs"] = [lfn for lfn in inputs if lfn not in made]
    return both


def _needs_by_job(given: PlanningInput, scratch: str) -> dict[str, Needs]:
    common: Needs = {"scratch": scratch, "below": given.settings.copy_below}
    if given.settings.keeps_failed:
        common["keep_failed"] = given.settings.evacuate_within
    disk = _disk(given)
    if disk is not None:
        common["disk"] = disk
    catalogs = given.catalogs
    site = given.site.name
    programs = staged_with(given.workflow, catalogs.transformations, site)
    copies_all = not catalogs.properties.flag(_LINKS, default=True)
    needs: dict[str, Needs] = {}
    for job in given.workflow:
        if job.runs_on(site):
            own = _files_of(given, job, copies_all=copies_all)
            own["inputs"] += programs[job.transformation]
            needs[job.id] = {**common, **own}
    return needs


def _files_of(given: PlanningInput, job: Job, *, copies_all: bool) -> Needs:
    inputs = [use.lfn for use in job.inputs()]
    outputs = [use.lfn for use in job.outputs()]
    copied = list(inputs)
    if not copies_all and not given.wants_copies(job):
        made = set(outputs)
        copied = [lfn for lfn in inputs if lfn in made]
    lists = {
        "checkpoints": [use.lfn for use in job.checkpoints()],
        "copied": copied,
        "read": [lfn for lfn in outputs if lfn in given.graph.consumers],
    }
    found = {key: lfns for key, lfns in lists.items() if lfns}
    return {"inputs": inputs, "outputs": outputs, **found}


def _disk(given: PlanningInput) -> str | None:
    """The folder on the disk of every node that is to have the private folders, ""
    for the one that a job finds there; None: they are in the workflow directory."""
    site = given.site
    local = next((d.path for d in site.directories if d.kind in _DISK), None)
    disk = local or site.profile("env", _DISK_VARIABLE)
    return "" if disk is None and given.settings.private == "node" else disk
