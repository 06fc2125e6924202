"""What a planner leaves out of what the user asked for: `plan` and `check` say it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence

from pegasus_bb.model.workflow import Workflow
from pegasus_bb.paths import local_path
from pegasus_bb.placement import PlanningInput

_MODE = "pegasus.mode"
_PRODUCTION = "production"  # Pegasus's default
_SHOWN = 3  # names


def left_out(planning: PlanningInput, is_builtin: bool) -> list[str]:
    """A line for each thing, of the user's workflow as it was read."""
    notes = list(_checkpoints(planning, is_builtin))
    for find in _BUILTIN if is_builtin else ():
        notes += find(planning)
    return notes


def check_can_be_fetched(planning: PlanningInput) -> None:
    """Raises CatalogError for an input that only pegasus-transfer can fetch, where
    there is none: before anything is reserved."""
    if _has_pegasus_transfer(planning):
        return
    replicas = planning.catalogs.replicas.replicas
    for lfn in planning.graph.consumers:
        found = () if lfn in planning.graph.producer else replicas.get(lfn, ())
        if found and all(local_path(replica.pfn) is None for replica in found):
            document = planning.catalogs.replicas.document
            raise document.error(
                f"the input {lfn!r} can only be fetched by pegasus-transfer, which is "
                "neither on PATH nor in a PEGASUS_HOME of the site",
                ["replicas"],
                found[0].pfn,
                f"a copy of it in a file, or PEGASUS_HOME in the env profile of site "
                f"{planning.site.name}",
            )


def _has_pegasus_transfer(planning: PlanningInput) -> bool:
    home = os.environ.get("PEGASUS_HOME", "")
    path = os.pathsep.join([os.environ.get("PATH", ""), f"{home}/bin" if home else ""])
    of_site = planning.site.profile("env", "PEGASUS_HOME")
    return bool(of_site) or shutil.which("pegasus-transfer", path=path) is not None


def _checkpoints(planning: PlanningInput, is_builtin: bool) -> Iterator[str]:
    """pegasus-plan would stage out a checkpoint that need never be written."""
    on_buffer = planning.settings.mode in ("persistent", "hybrid")
    if not (is_builtin or on_buffer):
        return
    files = [
        use.lfn
        for job in planning.workflow.jobs.values()
        for use in job.uses
        if use.kind == "checkpoint"
    ]
    if files:
        yield (
            f"checkpoint files ({_some(files)}) are kept for retries of their jobs; "
            "they are not staged out"
        )


def _registration(planning: PlanningInput) -> Iterator[str]:
    if planning.ending.delivered and any(
        use.stage_out and use.register
        for job in planning.workflow.jobs.values()
        for use in job.outputs()
    ):
        yield (
            "the built-in planner does not register results in an output replica "
            "catalog; they are where --output-sites or --output-dir says"
        )


def _data_reuse(planning: PlanningInput) -> Iterator[str]:
    known = planning.catalogs.replicas.replicas.keys()
    if not known.isdisjoint(planning.graph.producer):
        yield (
            "some results have replicas already; the built-in planner reuses none of "
            "them and runs every job"
        )


def _shell_hooks(planning: PlanningInput) -> Iterator[str]:
    whose = list(_hooked(planning.workflow))
    if whose:
        yield f"the built-in planner does not run the shell hooks of {_some(whose)}"


def _hooked(workflow: Workflow) -> Iterator[str]:
    if workflow.document.data.get("hooks"):
        yield "the workflow"
    for job in workflow.jobs.values():
        if job.data.get("hooks"):
            yield f"job {job.id}"


def _mode(planning: PlanningInput) -> Iterator[str]:
    said = planning.catalogs.properties.get(_MODE, _PRODUCTION)
    if said != _PRODUCTION:
        yield (
            f"the built-in planner does not know {_MODE}: the workflow is planned as "
            f"with {_PRODUCTION}, and not as with {said}"
        )


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")


_BUILTIN: tuple[Callable[[PlanningInput], Iterator[str]], ...] = (
    _registration,
    _data_reuse,
    _shell_hooks,
    _mode,
)
