"""Starts the script and the job of a node with their files, and keeps their output."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import IO

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.core.removal import remove
from pegasus_bb.model.dag.htcondor_api import SubmitFile, read_submit
from pegasus_bb.model.dag.nodes import Node, Script
from pegasus_bb.run.engine.children import Child, Children
from pegasus_bb.run.engine.node_table import NodeEntry, NodeState, NodeTable
from pegasus_bb.runtime.bbdir import SUBMIT_DIR
from pegasus_bb.runtime.job_reservation.planned import LANDING
from pegasus_bb.runtime.proc import why_not
from pegasus_bb.runtime.programs import exitcode

_NOT_FOUND = 127  # exit status of a shell that cannot start a program
_WANTS_SCRATCH = "pegasus-lite-local.sh"  # around Pegasus's transfers on this machine
_TAIL = 4000  # bytes of a script's output
_CONDOR_EXEC = "condor_exec.exe"  # as HTCondor calls a program that it has brought
# DAGMan's values of $DAG_STATUS for "a node has failed" and "no failure".
_NODE_FAILED = 2
_OK = 0


class CannotStart(Exception):
    """It was not started; the text says why. The job counts as ended with ``status``"""

    status = _NOT_FOUND


def script_of(item: NodeEntry, kind: str) -> Script:
    """The PRE or POST script of ``item``, which must have one."""
    script = item.node.pre if kind == "pre" else item.node.post
    if script is None:
        raise LookupError(f"{item.node.name} has no {kind} script")
    return script


class Starter:
    """Starts jobs and scripts when the scheduler decides to."""

    def __init__(self, table: NodeTable, submit_dir: Path, children: Children) -> None:
        self._table = table
        self._dir = submit_dir
        self._children = children
        self._environment = dict(os.environ)
        self._scratch: tempfile.TemporaryDirectory[str] | None = None

    def job(self, item: NodeEntry) -> None:
        """Start the job of ``item``. Raises CannotStart."""
        try:
            job = submit_file(item, self._dir)
        except CatalogError as error:
            raise CannotStart(str(error)) from error
        command = job_command(job, item, self._dir)
        files: list[int] = []
        try:
            self._open(command, files)
            if command.brings or Path(command.argv[0]).name == _WANTS_SCRATCH:
                scratch = self._scratch_of(item)
                _bring(command, scratch)
                command.environment["_CONDOR_SCRATCH_DIR"] = scratch
                if SUBMIT_DIR in command.environment:
                    command = _travelled(command, scratch)
            self._start(item, "job", command, (files[0], files[1], files[2]))
        except CannotStart as error:
            if len(files) == 3:  # where users look first
                with suppress(OSError):  # a full disk: the summary has the reason too
                    os.write(files[2], f"pegasus-bb run: {error}\n".encode())
            raise
        finally:
            for handle in set(files):
                os.close(handle)

    def _scratch_of(self, item: NodeEntry) -> str:
        """An empty folder, as HTCondor gives each job; it goes with the engine."""
        try:
            if self._scratch is None:
                self._scratch = _folder_of_jobs(self._dir)
            return tempfile.mkdtemp(dir=self._scratch.name, prefix=item.node.name)
        except OSError as error:
            why = f"no temporary folder for {item.node.name}: {error.strerror}"
            raise CannotStart(why) from error

    def script(self, item: NodeEntry, kind: str) -> int | None:
        """Start the PRE or POST script of ``item``; its exit status if that is known at
        once, as of the run's own exitcode. Raises CannotStart."""
        command = script_command(
            script_of(item, kind), item, self._table, self._dir, post=kind == "post"
        )
        if self._is_exitcode(command.argv[0]):
            status, said = exitcode.answer(command.argv[1:], command.cwd)
            if said:
                self._keep(item, kind, f"{said}\n")
            return status
        try:
            output = tempfile.TemporaryFile()  # noqa: SIM115 - closed when it has ended
            null = os.open(os.devnull, os.O_RDONLY)
        except OSError as error:
            raise CannotStart(
                f"no temporary file for what {command.argv[0]} says: {error.strerror}"
            ) from error
        try:
            self._start(
                item, kind, command, (null, output.fileno(), output.fileno()), output
            )
        finally:
            os.close(null)
        return None

    def _is_exitcode(self, program: str) -> bool:
        is_named_so = Path(program).name == "exitcode"
        return is_named_so and self._children.is_planned(program)

    def keep_output(self, child: Child, status: int) -> None:
        """Keep the output of a failed script."""
        item: NodeEntry = child.owner
        if child.output is None:
            return
        with child.output as output:
            if status in (0, script_of(item, child.kind).defer_status):
                return
            output.seek(max(0, output.seek(0, os.SEEK_END) - _TAIL))
            self._keep(item, child.kind, output.read().decode(errors="replace"))

    def _keep(self, item: NodeEntry, kind: str, said: str) -> None:
        """Write it beside the node's other files, as <node>.pre.err or .post.err."""
        file = folder_of(item.node, self._dir) / item.node.submit_file
        with suppress(OSError):  # a full disk: the exit status is reported in any case
            file.with_suffix(f".{kind}.err").write_text(said)

    def _start(
        self,
        item: NodeEntry,
        kind: str,
        command: Command,
        files: tuple[int, int, int],
        output: IO[bytes] | None = None,
    ) -> None:
        mark = f"{self._dir}#{item.node.name}#{item.sequence}#{kind}"
        child = Child(item, kind, mark, output)
        environment = {**self._environment, **command.environment}
        try:
            self._children.start(child, command.argv, command.cwd, environment, files)
        except (OSError, ValueError) as error:
            if not Path(command.cwd).is_dir():
                raise CannotStart(f"{command.cwd}: no such folder to run in") from error
            program = command.argv[0]
            why = why_not(program, error)
            raise CannotStart(f"{program} cannot be started: {why}") from error

    @staticmethod
    def _open(command: Command, files: list[int]) -> None:
        writing = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        names = (command.input, command.output, command.error)
        for name, flags in zip(names, (os.O_RDONLY, writing, writing), strict=True):
            if len(files) == 2 and name and name == command.output:
                files.append(files[1])
                continue
            try:
                files.append(os.open(name or os.devnull, flags, 0o644))
            except OSError as error:
                raise CannotStart(
                    f"{name} cannot be opened: {error.strerror}"
                ) from error


@dataclass(frozen=True, slots=True)
class Command:
    """A program with its arguments and files; an empty file name means /dev/null."""

    argv: list[str]
    cwd: str
    environment: dict[str, str] = field(default_factory=dict)
    input: str = ""
    output: str = ""
    error: str = ""
    # What its scratch has, by path in it, and where that is on this machine.
    brings: dict[str, str] = field(default_factory=dict)
    returns: dict[str, str] = field(default_factory=dict)


def folder_of(node: Node, submit_dir: Path) -> Path:
    """The folder to which a node's paths are relative."""
    return submit_dir / node.directory if node.directory else submit_dir


def script_command(
    script: Script, item: NodeEntry, table: NodeTable, submit_dir: Path, *, post: bool
) -> Command:
    """A PRE or POST script. As in DAGMan, arguments are split at blanks, no shell
    sees them, and only a whole argument is a macro."""
    folder = folder_of(item.node, submit_dir)
    parts = script.arguments.replace("\t", " ").split(" ")
    macros = _macros(item, table, post=post)
    arguments = [macros.get(part.upper(), part) for part in parts if part]
    return Command([str(folder / script.executable), *arguments], str(folder))


def _macros(item: NodeEntry, table: NodeTable, *, post: bool) -> dict[str, str]:
    counts = table.counts
    macros = {
        "$JOB": item.node.name,
        "$NODE": item.node.name,
        "$RETRY": str(item.retries),
        "$MAX_RETRIES": str(item.node.retry),
        "$DAGID": str(os.getpid()),
        "$DAG_STATUS": str(_NODE_FAILED if counts[NodeState.FAILED] else _OK),
        "$FAILED_COUNT": str(counts[NodeState.FAILED]),
        "$FUTILE_COUNT": str(counts[NodeState.FUTILE]),
        "$DONE_COUNT": str(counts[NodeState.DONE]),
        "$QUEUED_COUNT": str(counts[NodeState.RUNNING]),
        "$NODE_COUNT": str(len(table.items)),
    }
    if post:  # DAGMan leaves these words as they are for a PRE script
        macros |= {
            "$RETURN": str(item.status),
            "$PRE_SCRIPT_RETURN": str(item.pre_status),
            "$JOBID": f"{item.sequence}.0",
            "$CLUSTERID": str(item.sequence),
            "$SUCCESS": str(item.status == 0),
        }
    return macros


def submit_file(item: NodeEntry, submit_dir: Path) -> SubmitFile:
    """The submit file of a node. Raises CatalogError."""
    node = item.node
    known = {
        "JOB": node.name,
        "RETRY": str(item.retries),
        "cluster": str(item.sequence),
        "clusterid": str(item.sequence),
        "DAGManJobId": str(os.getpid()),
    }
    file = folder_of(node, submit_dir) / node.submit_file
    return _submit_file(file, _written(file), tuple({**known, **node.vars}.items()))


@lru_cache(maxsize=1000)  # each is asked for when its job is queued and when it starts
def _submit_file(
    file: Path, written: int, known: tuple[tuple[str, str], ...]
) -> SubmitFile:
    return read_submit(file, dict(known))


def _written(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


def _bring(command: Command, scratch: str) -> None:
    """Put links to the files that come with a job into its ``scratch``, and to the
    folders that it leaves results in. Raises CannotStart."""
    for name, path in (*command.brings.items(), *command.returns.items()):
        link = Path(scratch, name)
        try:
            link.parent.mkdir(parents=True, exist_ok=True)
            if name in command.returns:
                Path(path).mkdir(parents=True, exist_ok=True)
            link.symlink_to(path)
        except OSError as error:
            raise CannotStart(f"{path}: cannot be brought: {error.strerror}") from error


def _travelled(command: Command, scratch: str) -> Command:
    """``command`` as HTCondor starts a job that brings its program. Raises
    CannotStart."""
    program = str(Path(scratch, _CONDOR_EXEC))
    try:
        shutil.copy(command.argv[0], program)
    except OSError as error:
        why = f"{command.argv[0]}: cannot be brought: {error.strerror}"
        raise CannotStart(why) from error
    return replace(command, argv=[program, *command.argv[1:]], cwd=scratch)


def job_command(job: SubmitFile, item: NodeEntry, submit_dir: Path) -> Command:
    """A job as HTCondor would start it on this machine.

    ``executable`` counts from the folder of submission, files from ``initialdir``; the
    job starts in ``remote_initialdir`` where Pegasus names one (style condor).
    """
    folder = folder_of(item.node, submit_dir)
    cwd = folder / job.initialdir

    def at(name: str) -> str:
        return str(cwd / name) if name and name != os.devnull else ""

    returned = _there_and_here(job.transfer_output_files, at, job)
    return Command(
        [str(folder / job.executable), *job.arguments],
        str(cwd / job.remote_initialdir),
        dict(job.environment),
        at(job.input),
        at(job.output),
        at(job.error),
        _there_and_here(job.transfer_input_files, at, job),
        # A user's own files are taken back by HTCondor alone.
        {name: path for name, path in returned.items() if LANDING in name},
    )


def _there_and_here(
    names: str, at: Callable[[str], str], job: SubmitFile
) -> dict[str, str]:
    """The files of a list of HTCondor's: path where the job starts -> path here."""
    listed = filter(None, map(str.strip, names.split(",")))
    keeps = job.preserve_relative_paths
    return {
        name if keeps and not name.startswith("/") else Path(name).name: at(name)
        for name in listed
    }


def _folder_of_jobs(submit_dir: Path) -> tempfile.TemporaryDirectory[str]:
    """A temporary folder; those of earlier engines of ``submit_dir``, which were
    killed, go. Raises OSError."""
    prefix = f"pegasus-bb-{hashlib.sha256(os.fsencode(submit_dir)).hexdigest()[:16]}-"
    for left in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with suppress(OSError):  # another user's
            remove(str(left))
    return tempfile.TemporaryDirectory(prefix=prefix)
