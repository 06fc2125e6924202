"""Puts a submit directory on disk: whole under its name, or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pegasus_bb.beside import Beside
from pegasus_bb.errors import UsageError
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.planner.builtin.executable import Executable, PlannedJob
from pegasus_bb.planner.builtin.fill import File, fill
from pegasus_bb.planner.builtin.joblists import job_list
from pegasus_bb.planner.builtin.names import JOBS_PER_FOLDER
from pegasus_bb.planner.builtin.records import bb_files, top_files
from pegasus_bb.planner.builtin.submit import Submits
from pegasus_bb.planner.context import PlanContext
from pegasus_bb.planner.dagfile import write_dag

# From here on a second process takes its share of the submit files, as much as the
# first can write while it also writes the DAG.
WORTH_A_PROCESS = 5000  # jobs
SHARE = 0.65


def write(
    executable: Executable,
    workflow: Workflow,
    catalogs: Catalogs,
    context: PlanContext,
    pfs_scratch: str = "",
    links: Mapping[str, Mapping[str, str]] | None = None,
    extra: Mapping[str, str] | None = None,
) -> Path:
    """Write ``context.submit_dir`` and give it back.

    ``links`` is by job id; ``extra`` are further files of bb/, name to text. All of it
    goes to a hidden folder beside, which is renamed at the very end and removed where
    anything fails. Raises UsageError where the submit directory is taken.
    """
    target = context.submit_dir
    _refuse_taken(target)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.mkdir()
        # What reads the whole workflow comes before the fork: after it, whoever first
        # touches a page of memory copies it.
        fill(part, top_files(executable, workflow, catalogs, context, _host()))
        fill(part, bb_files(executable, context, pfs_scratch, links or {}))
        more = (extra or {}).items()
        fill(part, ((f"bb/{name}", text.encode()) for name, text in more))
        jobs = list(executable.jobs.values())
        share = _share(len(jobs))

        def write_share() -> None:
            _write_jobs(part, jobs[:share], executable, catalogs, context)

        with Beside(write_share, worth=share > 0) as other:
            _write_jobs(part, jobs[share:], executable, catalogs, context)
            write_dag(executable.dag, part / f"{context.label}-0.dag")
            _install(part / "bb", context.python)
            other.finish()
        _take_name(part, target)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        raise UsageError(
            f"the submit directory {target} cannot be written: {error}; "
            "nothing of it was left behind"
        ) from error
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return target


def files_of(
    jobs: Iterable[PlannedJob],
    executable: Executable,
    catalogs: Catalogs,
    context: PlanContext,
) -> Iterator[File]:
    """Submit files and job lists of ``jobs``, folder by folder."""
    submits = Submits(executable.scratch, catalogs, context)
    for planned in jobs:
        stem = f"{planned.folder}/{planned.name}"
        yield f"{stem}.sub", submits.text(planned).encode()
        if planned.entries is not None:
            yield f"{stem}.in", job_list(planned.entries)


def _share(jobs: int) -> int:
    """How many jobs a second process writes: whole folders of them, or none."""
    if jobs < WORTH_A_PROCESS:
        return 0
    return int(SHARE * jobs) // JOBS_PER_FOLDER * JOBS_PER_FOLDER


def _write_jobs(
    part: Path,
    jobs: list[PlannedJob],
    executable: Executable,
    catalogs: Catalogs,
    context: PlanContext,
) -> None:
    for folder in {planned.folder for planned in jobs}:  # of an earlier try
        shutil.rmtree(part / folder, ignore_errors=True)
    fill(part, files_of(jobs, executable, catalogs, context))


def _install(folder: Path, python: str) -> None:
    from pegasus_bb.runtime.install import install_runtime

    install_runtime(str(folder), python)


def _take_name(part: Path, target: Path) -> None:
    """An empty folder may stand there; anything in it, and the name is taken."""
    try:
        part.rename(target)
    except OSError:
        _refuse_taken(target)
        raise


def _refuse_taken(target: Path) -> None:
    if target.is_symlink() or (target.exists() and not _empty(target)):
        raise UsageError(
            f"the submit directory {target} is already there; "
            "choose another --relative-submit-dir, or leave it out"
        )


def _empty(folder: Path) -> bool:
    return folder.is_dir() and next(folder.iterdir(), None) is None


def _host() -> str:
    return os.uname().nodename
