"""Programs that are staged with the data: they need room on the tier as well."""

from __future__ import annotations

from collections.abc import Iterable

from pegasus_bb.model.transformations import (
    Executable,
    Transformation,
    TransformationCatalog,
)
from pegasus_bb.model.workflow import Job, Workflow


def staged_name(transformation: Transformation) -> str:
    """The LFN under which Pegasus stages a program: ``namespace-name-version``."""
    parts = (transformation.namespace, transformation.name, transformation.version)
    return "-".join(part for part in parts if part)


def staged_executables(
    workflow: Workflow, catalog: TransformationCatalog, site: str
) -> dict[str, Executable]:
    """LFN -> program, for every program that jobs on ``site`` have staged to them."""
    names = dict.fromkeys(
        job.transformation for job in workflow.jobs.values() if runs_on(job, site)
    )
    return staged_for(names, catalog, site)


def staged_for(
    names: Iterable[str], catalog: TransformationCatalog, site: str
) -> dict[str, Executable]:
    """LFN -> program, for what these transformations have staged.

    What a transformation requires is staged with it.
    """
    waiting = list(names)
    seen = set(waiting)
    found: dict[str, Executable] = {}
    for name in waiting:
        transformation = catalog.transformations.get(name)
        if transformation is None:
            continue
        executable = catalog.executable(name, site)
        if executable is not None and executable.kind == "stageable":
            found[staged_name(transformation)] = executable
        waiting.extend(n for n in transformation.requires if n not in seen)
        seen.update(transformation.requires)
    return found


def program_users(
    workflow: Workflow, catalog: TransformationCatalog, site: str
) -> dict[str, list[str]]:
    """LFN of each staged program -> the jobs on ``site`` that have it staged."""
    known: dict[str, list[str]] = {}
    users: dict[str, list[str]] = {}
    for job in workflow.jobs.values():
        name = job.transformation
        if name not in known:
            known[name] = list(staged_for([name], catalog, site))
        if known[name] and runs_on(job, site):
            for lfn in known[name]:
                users.setdefault(lfn, []).append(job.id)
    return users


def staged_with(
    workflow: Workflow, catalog: TransformationCatalog, site: str
) -> dict[str, tuple[str, ...]]:
    """Transformation -> LFNs of the programs that its jobs on ``site`` need there."""
    names = {job.transformation for job in workflow.jobs.values() if runs_on(job, site)}
    return {name: tuple(staged_for([name], catalog, site)) for name in names}


def runs_on(job: Job, site: str) -> bool:
    """Whether ``job`` is a task, and one of that site."""
    if job.kind != "job" or "profiles" not in job.data:  # as of nearly every job
        return job.kind == "job"
    return job.profile("selector", "execution.site") in (None, site)
