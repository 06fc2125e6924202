"""Runs the tasks of a cluster one after the other: `cluster [-f] < LIST`.

It takes the place of pegasus-cluster and reads its lists: a command on each line, with
the quotes of a shell; lines that begin with # are comments. Each task writes its own
record. A line after each, and one at the end, say how they ended, in pegasus-cluster's
words. With -f the first failure ends the cluster.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence

from pegasus_bb.core.errors import PegasusBBError, UsageError
from pegasus_bb.core.light_typing import NamedTuple
from pegasus_bb.runtime import proc
from pegasus_bb.runtime.own_programs import OwnProgram, load, own_program
from pegasus_bb.runtime.proc import Ended, ProgramNotStarted, find_program

_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class ClusteredTask(NamedTuple):
    line: int  # of the list
    argv: list[str]


def main(argv: Sequence[str] | None = None) -> int:
    """``cluster [-f] < LIST``: 0, or the exit status of the first task that failed."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    return run_list(arguments, dict(os.environ))


def run_list(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """As ``main``, in this process: launch does without another Python."""
    try:
        if [word for word in arguments if word != "-f"]:
            raise UsageError(
                f"cluster: {' '.join(arguments)}: next: cluster [-f] < LIST"
            )
        with open(
            0, encoding="utf-8", errors="surrogateescape", closefd=False
        ) as given:
            tasks = list(_tasks(given))
        return run_tasks(tasks, environ, fails_fast="-f" in arguments)
    except PegasusBBError as error:
        print(error, file=sys.stderr)
        return error.exit_code


def _tasks(lines: Iterator[str]) -> Iterator[ClusteredTask]:
    """Raises UsageError for quotes that do not close."""
    for number, line in enumerate(lines, 1):
        if line.startswith("#") or not line.strip():
            continue
        try:
            yield ClusteredTask(number, shlex.split(line))
        except ValueError as error:
            raise UsageError(f"cluster: line {number} of the list: {error}") from error


def run_tasks(
    tasks: Sequence[ClusteredTask], environ: Mapping[str, str], *, fails_fast: bool
) -> int:
    """Run ``tasks``; the exit status of the first that failed, else 0. After a signal
    to this process no further one starts."""
    stopped: list[int] = []
    begun = time.time()
    statuses: list[int] = []
    with _noting(stopped):
        for task in tasks:
            if stopped or (fails_fast and any(statuses)):
                break
            statuses.append(_run(task, environ, len(statuses) + 1, stopped))
    failed = [status for status in statuses if status]
    complete = len(statuses) == len(tasks) and not failed
    _say(
        "cluster-summary",
        f'stat="{"ok" if complete else "fail"}", lines={len(tasks)}, '
        f"tasks={len(tasks)}, succeeded={len(statuses) - len(failed)}, "
        f"failed={len(failed)}, extra=0",
        begun,
        "pegasus-bb",
    )
    if failed:
        return failed[0]
    return 128 + stopped[0] if stopped and not complete else 0


@contextlib.contextmanager
def _noting(stopped: list[int]) -> Iterator[None]:
    """Note a signal between two tasks in ``stopped``; a running one gets it itself."""

    def note(number: int, frame: object) -> None:
        stopped.append(number)
        proc.told(number)

    before = proc.set_handlers(_ENDING, note)
    try:
        yield
    finally:
        proc.restore_handlers(before)


def _run(
    task: ClusteredTask, environ: Mapping[str, str], number: int, stopped: list[int]
) -> int:
    begun = time.time()
    pid = 0
    try:
        ended = _start(task, environ, stopped)
        pid = ended.pid
        status = ended.status
    except ProgramNotStarted as error:
        print(f"cluster: {error}", file=sys.stderr, flush=True)
        status = error.status
    facts = f"id={number}, status={status}, line={task.line}, pid={pid}"
    _say("cluster-task", facts, begun, task.argv[0])
    return status


def _start(
    task: ClusteredTask, environ: Mapping[str, str], stopped: list[int]
) -> Ended:
    """Run ``task`` to its end. Raises ProgramNotStarted."""
    program = find_program(task.argv[0], environ)
    name = own_program(program)
    if name:
        load(name)  # before the fork, and once
    with open(os.devnull, "rb") as nothing:
        streams = (nothing.fileno(), 1, 2)
        return _RunningTask(program, task.argv, environ, streams, stopped).wait()


class _RunningTask(OwnProgram):
    """A task. A signal that ends it is noted in ``stopped``."""

    def __init__(
        self,
        program: str,
        argv: Sequence[str],
        environ: Mapping[str, str],
        streams: Sequence[int],
        stopped: list[int],
    ) -> None:
        self._stopped = stopped
        super().__init__(program, argv, environ, streams)

    def _forward(self, number: int, frame: object) -> None:
        if number in _ENDING:
            self._stopped.append(number)
        super()._forward(number, frame)


def _say(what: str, facts: str, begun: float, program: str) -> None:
    start = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(begun))
    duration = time.time() - begun
    print(
        f'[{what} {facts}, start="{start}", duration={duration:.3f}, app="{program}"]',
        flush=True,
    )
