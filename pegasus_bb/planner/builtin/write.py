"""Writes a submit directory: complete under its name, or not at all."""

from __future__ import annotations

import glob
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from pegasus_bb.model.dag.joblists import job_list
from pegasus_bb.model.dag.writer import write_dag
from pegasus_bb.model.document import as_json
from pegasus_bb.planner.builtin.executable import (
    VERSION,
    BuiltInExecutable,
    PlannedJob,
    compact,
    properties_file,
)
from pegasus_bb.planner.builtin.submit_files import SubmitFiles
from pegasus_bb.planner.existing_submit_dir import move_existing, not_written
from pegasus_bb.planner.fork_worker import (
    JOBS_FOR_A_WORKER,
    File,
    Folders,
    fill,
    fill_folders,
)
from pegasus_bb.planner.run_plan import RunPlan
from pegasus_bb.runtime.bbdir import NODES
from pegasus_bb.runtime.install import install_runtime

_SPECIAL = re.compile(r"[\s\"'\\=]")


def write(
    executable: BuiltInExecutable,
    run: RunPlan,
    few: Iterable[File] = (),
    many: Callable[[], Iterable[File]] | None = None,
) -> Path:
    """Write ``run.submit_dir`` and return it.

    ``few`` and ``many`` are files of bb/, the latter all of one folder. The files go to
    a hidden folder, which is renamed at the very end; after a failure nothing stays.
    With ``run.force`` an old run is moved aside just before the rename. Raises
    UsageError, and CatalogError for a job that no submit file can express.
    """
    target = run.submit_dir
    part = _part(target)
    missing = [parent for parent in target.parents if not parent.exists()]
    try:
        part.mkdir(parents=True)
        # Read the whole workflow before the fork: after it, the first write to a page
        # of memory copies the page.
        fill(part, top_files(executable, run, _host()))
        fill(part, _in_bb(few))

        def write_the_rest() -> None:
            write_dag(executable.dag, part / executable.dag_name)
            install_runtime(str(part / "bb"), run.python, is_kept=run.is_kept)

        with_worker = len(executable.jobs) >= JOBS_FOR_A_WORKER
        folders = _folders(executable, run)
        if many is not None:
            folders = {f"bb/{NODES}": lambda: _in_bb(many()), **folders}
        fill_folders(part, folders, with_worker=with_worker, meanwhile=write_the_rest)
        move_existing(target, force=run.force)
        part.rename(target)
    except BaseException as error:
        shutil.rmtree(part, ignore_errors=True)
        with suppress(OSError):  # another planning may use a parent
            for parent in missing:
                parent.rmdir()
        if isinstance(error, OSError):
            raise not_written(target, error) from error
        raise
    return target


def check_files(executable: BuiltInExecutable, run: RunPlan) -> None:
    """Raises CatalogError and UsageError as ``write`` would."""
    submits = SubmitFiles(executable, run)
    for planned in executable.jobs.values():
        submits.text(planned)
        submits.task_list(planned)


def files_of(
    jobs: Iterable[PlannedJob], executable: BuiltInExecutable, run: RunPlan
) -> Iterator[File]:
    submits = SubmitFiles(executable, run)
    for planned in jobs:
        stem = f"{planned.folder}/{planned.name}"
        yield f"{stem}.sub", submits.text(planned).encode()
        if planned.entries is not None:
            yield f"{stem}.in", job_list(planned.entries)
        elif planned.tasks:
            yield f"{stem}.in", submits.task_list(planned).encode()


def _in_bb(files: Iterable[File]) -> Iterator[File]:
    return ((f"bb/{name}", data) for name, data in files)


def _folders(executable: BuiltInExecutable, run: RunPlan) -> Folders:
    jobs: dict[str, list[PlannedJob]] = {}
    for planned in executable.jobs.values():
        jobs.setdefault(planned.folder, []).append(planned)
    return {
        folder: partial(files_of, inside, executable, run)
        for folder, inside in jobs.items()
    }


def _part(target: Path) -> Path:
    """The hidden folder for ``target``; removes those that killed plannings left."""
    begins = f".{target.name}.{_host()}."
    for left in target.parent.glob(f"{glob.escape(begins)}*.part"):
        pid = left.name[len(begins) : -len(".part")]
        if pid.isdigit() and not Path("/proc", pid).exists():
            shutil.rmtree(left, ignore_errors=True)
    return target.with_name(f"{begins}{os.getpid()}.part")


def _host() -> str:
    return os.uname().nodename


def top_files(executable: BuiltInExecutable, run: RunPlan, host: str) -> Iterator[File]:
    """The files next to the .dag, by path below the submit directory."""
    name = f"{run.label}-0"
    workflow = executable.rewritten.workflow
    catalogs = executable.rewritten.catalogs
    yield "workflow.yml", as_json(workflow.document.data)
    for kind, document in catalogs.documents.items():
        yield f"catalogs/{kind}s.yml", as_json(document.data)
    yield properties_file(run.uuid), catalogs.properties.to_text().encode()
    yield "braindump.yml", _braindump(executable, run, host)
    yield f"{name}.cache", "".join(_cache(executable, run)).encode()
    yield f"{name}.metadata", _metadata(executable, run)
    yield f"{name}.notify", b""


def _braindump(executable: BuiltInExecutable, run: RunPlan, host: str) -> bytes:
    document = executable.rewritten.workflow.document
    name = f"{run.label}-0"
    values = {
        "user": run.user,
        "grid_dn": None,
        "submit_hostname": host,
        "root_wf_uuid": run.uuid,
        "wf_uuid": run.uuid,
        "dax": str(document.path),
        "dax_label": run.label,
        "dax_index": "0",
        "dax_version": str(document.data.get("pegasus", "5.0")),
        "pegasus_wf_name": name,
        "timestamp": compact(run.timestamp),
        "basedir": str(run.base_dir),
        "submit_dir": str(run.submit_dir),
        "planner": executable.planner,
        "planner_version": VERSION,
        "pegasus_build": VERSION,
        "planner_arguments": " ".join(run.arguments),
        "jsd": "jobstate.log",
        "rundir": run.submit_dir.name,
        "bindir": str(run.bin),
        "vogroup": "pegasus",
        "uses_pmc": "false",
        "properties": properties_file(run.uuid),
        "condor_log": f"{name}.log",
        "dag": f"{name}.dag",
        "type": "dag",
        "notify": f"{name}.notify",
    }
    lines = (f"{key}: {json.dumps(value)}\n" for key, value in values.items())
    return "".join(lines).encode()


def _cache(executable: BuiltInExecutable, run: RunPlan) -> Iterator[str]:
    workflow = executable.rewritten.workflow
    lfns = {use.lfn: None for job in workflow for use in job.uses}
    scratch = f"file://{executable.scratch}/"
    rest = f'site="{run.site}"\n'
    for lfn in lfns:
        yield f"{_word(lfn)} {_word(scratch + lfn)} {rest}"


def _word(text: str) -> str:
    if _SPECIAL.search(text) is None:
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _metadata(executable: BuiltInExecutable, run: RunPlan) -> bytes:
    return as_json(
        {
            "root_workflow_uuid": run.uuid,
            "workflow_uuid": run.uuid,
            "wf_metadata": {},
            "graph": {"jobs": {name: {} for name in executable.jobs}},
        }
    )
