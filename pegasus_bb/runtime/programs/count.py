"""Runs a task for Kickstart and notes its I/O counters: `count FILE PROGRAM ARG...`.

Kickstart itself counts only with ptrace, under which tasks have been seen to hang. FILE
gets one line of JSON. The exit status, or the signal, is that of PROGRAM.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence

from pegasus_bb.core.errors import USAGE, UsageError
from pegasus_bb.runtime.darshan_preload import bb_folder, with_darshan
from pegasus_bb.runtime.proc import (
    Ended,
    ProgramNotStarted,
    RunningProgram,
    find_program,
)


def main(argv: Sequence[str] | None = None) -> int:
    """``count FILE PROGRAM ARG...``: the exit status of PROGRAM."""
    name, *task = list(sys.argv[1:] if argv is None else argv) or [""]
    if not task:
        print("count: nothing to start; next: count FILE PROGRAM", file=sys.stderr)
        return USAGE
    try:
        program = find_program(task[0], os.environ)
        environ = with_darshan(bb_folder(), program, dict(os.environ))
        ended = RunningProgram(program, task, environ).wait()
    except ProgramNotStarted as error:
        print(f"count: {error}", file=sys.stderr)
        return error.status
    note(name, ended)
    return end_as(ended)


def note(name: str, ended: Ended) -> None:
    """Write the counters to file ``name``; a failure does not fail the task."""
    if ended.io is None:
        return
    line = json.dumps({**ended.io._asdict(), "iowait": ended.iowait})
    try:
        handle = os.open(name, os.O_WRONLY)
    except OSError:
        return
    with open(handle, "w", encoding="ascii") as out:
        out.write(line)


def end_as(ended: Ended) -> int:
    """The exit status; if a signal killed the task, kill this process with it."""
    if os.WIFSIGNALED(ended.raw):
        number = os.WTERMSIG(ended.raw)
        _no_core()
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return ended.status


def _no_core() -> None:
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


def with_counter(argv: list[str], program: str, name: str) -> list[str]:
    """Kickstart's ``argv`` with ``program`` (this one) before the task.

    Unchanged if an option is unknown, or if Kickstart has to make the task executable:
    it would change this program instead.
    """
    from pegasus_bb.runtime.records.kickstart_options import parse_options

    try:
        options = parse_options(argv[1:])
    except UsageError:
        return argv
    if options.flags.get("make executable"):
        return argv
    place = len(argv) - len(options.argv)
    return [*argv[:place], program, name, *argv[place:]]
