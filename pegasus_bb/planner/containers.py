"""bb/containers.json: which tasks run in a container, and what each one sees."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from pegasus_bb.model.catalogs import Catalogs, Site
from pegasus_bb.model.document import as_json
from pegasus_bb.model.transformations import containers_for
from pegasus_bb.model.workflow import Job, Workflow
from pegasus_bb.placement.lint import link_target

CONTAINERS = "containers.json"
_MOST_FOLDERS = 64  # each is one more argument of the container's program


def containers_file(
    workflow: Workflow, catalogs: Catalogs, site: Site
) -> dict[str, bytes]:
    """Its name and contents; nothing where no task has a container.

    Raises CatalogError where a container cannot be started.
    """
    names = {job.transformation for job in workflow.jobs.values()}
    if any(job.kind != "job" for job in workflow.jobs.values()):
        names |= catalogs.transformations.transformations.keys()
    found = containers_for(catalogs.transformations, names, site.name)
    if not found:
        return {}
    for job in workflow.jobs.values():
        if job.transformation in found:
            _check_job(workflow, job)
    folders = [site.scratch.path] if site.scratch else []
    folders += _fewer(_linked_folders(catalogs, site.name))
    data = {"version": 1, "folders": folders, "transformations": found}
    return {CONTAINERS: as_json(data)}


def _check_job(workflow: Workflow, job: Job) -> None:
    """The launcher starts containers, by the name of the transformation."""
    at = ["jobs", job.index, "profiles"]
    if job.profile("selector", "execution.site") == "local":
        raise workflow.document.error(
            f"job {job.id} runs on site local, where nothing starts its container",
            [*at, "selector", "execution.site"],
            "local",
            "run it on the site of the other jobs, or without a container",
        )
    arguments = job.profile("pegasus", "container.arguments")
    if arguments is not None:
        raise workflow.document.error(
            f"job {job.id} has arguments of its own for its container",
            [*at, "pegasus", "container.arguments"],
            arguments,
            "say them for the container or for the transformation",
        )


def _linked_folders(catalogs: Catalogs, site: str) -> set[str]:
    """Where links in the scratch directory may lead."""
    paths = (link_target(catalogs, site, lfn) for lfn in catalogs.replicas.replicas)
    return {posixpath.dirname(path) for path in paths if path is not None}


def _fewer(folders: Iterable[str]) -> list[str]:
    """Folders that contain them all; the deepest give way to their parents."""
    found = set(folders)
    while len(found) > _MOST_FOLDERS:
        depth = max(folder.count("/") for folder in found)
        found = {
            posixpath.dirname(folder) if folder.count("/") == depth else folder
            for folder in found
        }
    return sorted(found)
