"""Run a task for Kickstart, note what it read and wrote: `count FILE PROGRAM ARG...`.

Kickstart counts only what it traces with ptrace, where tasks were seen to stop for
ever. FILE gets one line of JSON; the end is the task's, a signal's included.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import List, Optional, Sequence

from pegasus_bb.errors import USAGE, UsageError
from pegasus_bb.runtime.proc import CannotStart, Child, Ended, find_program


def main(argv: Optional[Sequence[str]] = None) -> int:
    """``count FILE PROGRAM ARG...``: the exit status of PROGRAM."""
    name, *task = list(sys.argv[1:] if argv is None else argv) or [""]
    if not task:
        print("count: nothing to start; say: count FILE PROGRAM", file=sys.stderr)
        return USAGE
    try:
        program = find_program(task[0], os.environ)
        ended = Child(program, task, os.environ).wait()
    except CannotStart as error:
        print(f"count: {error}", file=sys.stderr)
        return error.status
    note(name, ended)
    return end_as(ended)


def note(name: str, ended: Ended) -> None:
    """Counters into the file ``name``; without it the task is as good as before."""
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
    """The exit status; killed by a signal, this process dies of the same."""
    if os.WIFSIGNALED(ended.raw):
        number = os.WTERMSIG(ended.raw)
        _no_core()
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return ended.status


def _no_core() -> None:
    """The task's own core is enough."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


def counted(argv: List[str], program: str, name: str) -> List[str]:
    """Kickstart's ``argv`` with ``program`` (this one) in front of the task.

    Unchanged where its options are not known, or where it is to make the task's file
    executable: it would make ours so.
    """
    from pegasus_bb.runtime.records.options import parse_options

    try:
        options = parse_options(argv[1:])
    except UsageError:
        return argv
    if options.flags.get("make executable"):
        return argv
    place = len(argv) - len(options.argv)
    return [*argv[:place], program, name, *argv[place:]]
