"""bb_setup and bb_delete join the abstract workflow, on the submit host.

bb_setup waits for nothing; bb_delete waits for every job that no other waits for, by a
declared dependency or for a file, so for all jobs. The order against what a planner
adds (create_dir, stage_out, cleanup) is the seal's to make: an abstract workflow cannot
say it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from pegasus_bb.model.document import Data, Document
from pegasus_bb.rewrite.inputs import Inputs, Plan

SETUP = "bb_setup"
DELETE = "bb_delete"


def add_lifecycle_jobs(inputs: Inputs, plan: Plan) -> Inputs:
    """Raises CatalogError where one of the names is taken."""
    _check_names(inputs)
    setup, delete = _free_ids(inputs.workflow.data["jobs"])
    programs = [
        _transformation(SETUP, str(plan.bin / "setup")),
        _transformation(DELETE, str(plan.bin / "delete")),
    ]
    return Inputs(
        workflow=inputs.workflow.with_data(_workflow(inputs, setup, delete)),
        sites=inputs.sites,
        replicas=inputs.replicas,
        transformations=_with_programs(inputs.transformations, programs),
        properties=inputs.properties,
    )


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


def _free_ids(jobs: list[Data]) -> tuple[str, str]:
    taken = {str(job["id"]) for job in jobs}
    free = (f"BB{n:07d}" for n in count(1) if f"BB{n:07d}" not in taken)
    return next(free), next(free)


def _workflow(inputs: Inputs, setup: str, delete: str) -> Data:
    """The workflow's data; a planner reads it as a stream, jobs before dependencies."""
    data = inputs.workflow.data
    jobs = [*data["jobs"], _job(SETUP, setup), _job(DELETE, delete)]
    dependencies = _dependencies(data, delete)
    changed = {**data, "jobs": jobs}
    if list(data).index("jobs") > _place(data, "jobDependencies"):
        del changed["jobDependencies"]
    return {**changed, "jobDependencies": dependencies}


def _place(data: Data, key: str) -> int:
    return list(data).index(key) if key in data else len(data)


def _job(name: str, ident: str) -> Data:
    return {
        "type": "job",
        "name": name,
        "id": ident,
        "arguments": [],
        "uses": [],
        "profiles": {"selector": {"execution.site": "local"}},
    }


def _dependencies(data: Data, delete: str) -> list[Data]:
    declared = data.get("jobDependencies") or []
    inner = {str(entry["id"]) for entry in declared if entry.get("children")}
    leaves = dict.fromkeys(
        ident for ident in _without_readers(data["jobs"]) if ident not in inner
    )
    kept = []
    for entry in declared:
        empty = leaves.pop(str(entry["id"]), "") is None
        kept.append({**entry, "children": [delete]} if empty else entry)
    return [*kept, *({"id": leaf, "children": [delete]} for leaf in leaves)]


def _without_readers(jobs: list[Data]) -> Iterator[str]:
    """Jobs of whose outputs no job reads any."""
    read = {
        use["lfn"]
        for job in jobs
        for use in job.get("uses") or ()
        if use.get("type") == "input"
    }
    for job in jobs:
        if not any(
            use.get("type") == "output" and use["lfn"] in read
            for use in job.get("uses") or ()
        ):
            yield str(job["id"])


def _transformation(name: str, pfn: str) -> Data:
    site = {"name": "local", "pfn": pfn, "type": "installed"}
    return {"name": name, "sites": [site]}


def _with_programs(document: Document, programs: list[Data]) -> Document:
    known: list[Any] = document.data.get("transformations") or []
    return document.with_data({**document.data, "transformations": [*known, *programs]})
