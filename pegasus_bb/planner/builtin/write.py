"""Puts a submit directory on disk: whole under its name, or not at all."""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from pegasus_bb.dag.joblists import job_list
from pegasus_bb.dag.writer import write_dag
from pegasus_bb.errors import UsageError
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.planner.builtin.executable import Executable, PlannedJob
from pegasus_bb.planner.builtin.folders import File, Folders, fill, fill_folders
from pegasus_bb.planner.builtin.records import top_files
from pegasus_bb.planner.builtin.submit import Submits
from pegasus_bb.planner.context import PlanContext
from pegasus_bb.planner.deciding import Decided
from pegasus_bb.planner.existing_submit_dir import move_existing
from pegasus_bb.runtime.bbdir import NODES

JOBS_FOR_A_WORKER = 5000  # from here on a second process writes submit files


def write(
    executable: Executable,
    planning: Decided,
    context: PlanContext,
    few: Iterable[File] = (),
    many: Callable[[], Iterable[File]] | None = None,
    force: bool = False,
) -> Path:
    """Write ``context.submit_dir`` and give it back.

    ``planning`` is what was planned, rewritten; ``few`` and ``many`` are files of bb/,
    the latter all of one folder. All goes to a hidden folder beside, which is renamed
    at the very end and removed where anything fails. Only then, and with ``force``, an
    old run moves aside. Raises UsageError where there is one that may not.
    """
    target = context.submit_dir
    part = _part(target)
    try:
        part.mkdir(parents=True)
        # What reads the whole workflow comes before the fork: after it, the process
        # that first changes a page of memory copies it.
        fill(part, top_files(executable, planning, context, _host()))
        fill(part, _in_bb(few))

        def write_the_rest() -> None:
            write_dag(executable.dag, part / executable.dag_name)
            _install(part / "bb", context.python)

        with_worker = len(executable.jobs) >= JOBS_FOR_A_WORKER
        folders = _folders(executable, planning.catalogs, context)
        if many is not None:
            folders = {f"bb/{NODES}": lambda: _in_bb(many()), **folders}
        fill_folders(part, folders, with_worker, meanwhile=write_the_rest)
        move_existing(target, force)
        part.rename(target)
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


def _in_bb(files: Iterable[File]) -> Iterator[File]:
    return ((f"bb/{name}", data) for name, data in files)


def _folders(
    executable: Executable, catalogs: Catalogs, context: PlanContext
) -> Folders:
    jobs: dict[str, list[PlannedJob]] = {}
    for planned in executable.jobs.values():
        jobs.setdefault(planned.folder, []).append(planned)
    return {
        folder: partial(files_of, inside, executable, catalogs, context)
        for folder, inside in jobs.items()
    }


def _install(folder: Path, python: str) -> None:
    from pegasus_bb.runtime.install import install_runtime

    install_runtime(str(folder), python)


def _part(target: Path) -> Path:
    """Where ``target`` is made; what a killed planning left there goes."""
    begins = f".{target.name}.{_host()}."
    for left in target.parent.glob(f"{glob.escape(begins)}*.part"):
        pid = left.name[len(begins) : -len(".part")]
        if pid.isdigit() and not Path("/proc", pid).exists():
            shutil.rmtree(left, ignore_errors=True)
    return target.with_name(f"{begins}{os.getpid()}.part")


def _host() -> str:
    return os.uname().nodename
