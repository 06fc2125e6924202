"""Workflows and catalogs that the built-in planner refuses."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from pegasus_bb.core.errors import CatalogError, UnplacedError, UsageError
from pegasus_bb.core.paths import local_path
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.dag.joblists import Entry
from pegasus_bb.model.graph import Graph
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.workflow import Job, Workflow, lfn_fault
from pegasus_bb.planner.builtin.executable import (
    STAGE_IN,
    STAGE_OUT,
    BuiltInExecutable,
    PegasusRole,
)
from pegasus_bb.planner.builtin.profiles import REAL_PLANNER, plain_text
from pegasus_bb.planner.run_plan import RunPlan

_LABEL = re.compile(r"[^\s\"'\\$%/\x00-\x20\x7f]+")
_SITE_NAME = re.compile(r"(?:[A-Za-z0-9]|[^\x00-\x7f])(?:[A-Za-z0-9_.-]|[^\x00-\x7f])*")
_STREAMS = {"stdin", "stdout", "stderr"}


def check_run(run: RunPlan) -> None:
    """Raises UsageError if a name of the run cannot stand in a DAG."""
    if _LABEL.fullmatch(run.label) is None:
        raise UsageError(
            f"the workflow's name {run.label!r} becomes part of file names and "
            "submit files: use no blanks, quotes, slashes, $ and %"
        )
    if _SITE_NAME.fullmatch(run.site) is None or not run.site.isprintable():
        raise UsageError(
            f"the site name {run.site!r} becomes part of node names: use letters, "
            "digits, _ . and -"
        )


def check_job(workflow: Workflow, graph: Graph, job: Job) -> None:
    """Raises CatalogError if the built-in planner would plan ``job`` wrongly."""
    if job.is_sub_workflow:
        why = f"a {job.kind} is a DAG of HTCondor, and nothing says which files it has"
        raise unsupported(workflow, job, why, job.kind)
    for use in job.uses:
        lfn = use.lfn
        if not lfn.isascii():
            _check_lfn(workflow, job, lfn)
        if use.kind == "input" and graph.producer.get(lfn) == job.id:
            raise unsupported(workflow, job, "one file is its input and output", lfn)
    if _STREAMS.isdisjoint(job.data):
        return
    for stream in sorted(_STREAMS & job.data.keys()):
        _check_stream(workflow, job, stream)
    inputs = {use.lfn for use in job.inputs()}
    if "stdin" in job.data and job.data["stdin"] not in inputs:
        raise workflow.job_error(
            job,
            f"the stdin of job {job.id} is no input of the job: no transfer "
            "would bring it",
            repr(job.data["stdin"]),
            "add it to the job's uses, with type: input",
            "stdin",
        )


def _check_lfn(workflow: Workflow, job: Job, lfn: str) -> None:
    try:
        plain_text(lfn, f"an LFN of job {job.id}")
    except UnplacedError as error:
        raise workflow.job_error(
            job, error.what, error.found, error.would_do, "uses"
        ) from error


def _check_stream(workflow: Workflow, job: Job, stream: str) -> None:
    lfn = job.data[stream]
    why = lfn_fault(lfn) if isinstance(lfn, str) else "is not a name"
    if why:
        raise workflow.job_error(
            job,
            f"the {stream} of job {job.id} {why}",
            repr(lfn),
            "the LFN of a file in the working directory",
            stream,
        )


def check_results_survive(workflow: Workflow, placement: Placement) -> None:
    """Raises CatalogError for a result that would stay on the buffer and be lost, if
    results go nowhere."""
    for job in workflow:
        for use in job.outputs():
            placed = placement.files.get(use.lfn)
            if use.stage_out and (placed is None or placement.on_tier(use.lfn)):
                raise workflow.job_error(
                    job,
                    f"the result {use.lfn!r} of job {job.id} would vanish with the "
                    "burst buffer: no stage-out job takes it away",
                    use.lfn,
                    "--output-sites local or --output-dir FOLDER",
                    "uses",
                )


def unsupported(workflow: Workflow, job: Job, why: str, found: str) -> CatalogError:
    """An error about ``job`` that pegasus-plan would not raise."""
    return workflow.job_error(
        job,
        f"the built-in planner cannot plan job {job.id} ({job.transformation}): {why}",
        repr(found),
        REAL_PLANNER,
    )


def check_path_overlap(
    executable: BuiltInExecutable,
    workflow: Workflow,
    catalogs: Catalogs,
    run_folder: str,
) -> None:
    """Raises CatalogError if the run would remove or overwrite a file of the user.

    The run ends by removing its folders in scratch and on the PFS (``run_folder``).
    A stage-out replaces the file at the destination of a result.
    """
    paths = _Paths(executable.scratch, run_folder)
    results: dict[str, str] = {}  # destination -> LFN
    for lfn, path in _results(executable):
        real = paths.real(path)
        if paths.is_removed(real):
            use = workflow.first_use({lfn}, ("output",))
            raise workflow.document.error(
                f"the result {lfn!r} would go to {path}, but the run's own folder "
                f"{run_folder} is there, which is removed at the end",
                [*use[1], "lfn"] if use else ["jobs"],
                lfn,
                "choose another --output-dir, or another --relative-dir",
            )
        results[real] = lfn
    for lfn, path in _inputs(executable):
        real = paths.real(path)
        if paths.is_removed(real):
            raise catalogs.replicas.error(
                lfn,
                f"the input {lfn!r} lies in the run's own folder {run_folder}, which "
                "is removed at the end",
                path,
                "another place for the input, or another --relative-dir",
            )
        if real in results:
            raise catalogs.replicas.error(
                lfn,
                f"the result {results[real]!r} would take the place of the input "
                f"{lfn!r}",
                path,
                "another --output-dir, or another name for the result",
            )


def _inputs(executable: BuiltInExecutable) -> Iterator[tuple[str, str]]:
    for entry in _entries(executable, STAGE_IN):
        for source in entry["src_urls"]:
            path = local_path(source["url"])
            if path is not None:
                yield entry["lfn"], path


def _results(executable: BuiltInExecutable) -> Iterator[tuple[str, str]]:
    """Each LFN that is staged out, with each of its destinations."""
    for entry in _entries(executable, STAGE_OUT):
        yield entry["lfn"], local_path(entry["dest_urls"][0]["url"]) or ""


def _entries(executable: BuiltInExecutable, role: PegasusRole) -> Iterator[Entry]:
    for planned in executable.jobs.values():
        yield from planned.entries or () if planned.role is role else ()


class _Paths:
    """Paths without symbolic links in their folders; each folder is resolved once."""

    def __init__(self, *run_folders: str) -> None:
        self._real: dict[str, str] = {}
        folders = [self.real(folder) for folder in run_folders]
        self._inside = tuple(f"{folder}/" for folder in folders)
        above = {str(place) for f in folders for place in PurePosixPath(f).parents}
        self._around = above.union(folders)

    def is_removed(self, path: str) -> bool:
        """Whether real ``path`` is a folder of the run, inside it, or above it."""
        return path in self._around or path.startswith(self._inside)

    def real(self, path: str) -> str:
        """``path`` with the links in its folders resolved."""
        folder, _, name = path.rpartition("/")
        if name in ("", ".", ".."):
            folder, _, name = os.path.normpath(path).rpartition("/")
        if folder not in self._real:
            self._real[folder] = os.path.realpath(folder or "/")
        return f"{self._real[folder].rstrip('/')}/{name}"
