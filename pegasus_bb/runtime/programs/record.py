"""Runs a program and writes its Kickstart 3.0 record to stdout.

It replaces pegasus-kickstart and has its options (records/kickstart_options.py). It
measures the bytes that the program and its descendants read and write without ptrace,
as the difference of /proc/self/io around the wait.
"""

from __future__ import annotations

import os
import sys
import time

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.light_typing import TYPE_CHECKING, NamedTuple
from pegasus_bb.core.refusals import keep_mode
from pegasus_bb.runtime.darshan_preload import bb_folder, with_darshan
from pegasus_bb.runtime.proc import (
    Ended,
    ProgramNotStarted,
    RunningProgram,
    find_program,
)
from pegasus_bb.runtime.records.kickstart_options import (
    Options,
    job_facts,
    listed_files,
    parse_options,
)
from pegasus_bb.runtime.records.streams import TAIL, Streams, file_facts
from pegasus_bb.runtime.records.yaml import Verbatim, record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from pegasus_bb.runtime.records.streams import Facts

RECORDER = "pegasus_bb"
_COUNTED = {  # key of the row of a process -> its counter
    "rchar": "rchar",
    "wchar": "wchar",
    "syscr": "syscr",
    "syscw": "syscw",
    "rbytes": "read_bytes",
    "wbytes": "write_bytes",
}


class TaskOutcome(NamedTuple):
    program: str
    begun: float
    end: float
    status: int
    ended: Ended | None  # None: never started


def main(argv: Sequence[str] | None = None) -> int:
    """``record [kickstart options] PROGRAM [ARG...]``: the program's exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return run_recorded(arguments, dict(os.environ))
    except PegasusBBError as error:
        print(error, file=sys.stderr)
        return error.exit_code


def run_recorded(argv: Sequence[str], environ: dict[str, str]) -> int:
    """Run the program in ``argv``, write its record, return its exit status.

    Raises UsageError.
    """
    started = time.time()
    options = parse_options(argv)
    whole = options.value("tail") == "all"
    tail = 1 << 62 if whole else options.number("tail", TAIL)
    final = listed_files(options.final, environ)  # the lists are where the job starts
    initial = _files(listed_files(options.initial, environ), {})
    trouble = _enter(options)
    try:
        streams = Streams(options, environ)
    except OSError as error:
        trouble = trouble or f"{error.filename}: {error.strerror}"
        streams = _fallback_streams(options, environ)
    outcome = _run(options, streams, environ, trouble)
    data = _facts(options, outcome, started)
    files = {**initial, **_files(final, {"output": True})}
    shown = not (options.flags.get("quiet") and outcome.status == 0)
    data["files"] = {**files, **streams.facts(with_data=shown, tail=tail)}
    return _write(record(data), options.value("logfile", "-"), outcome.status)


def _fallback_streams(options: Options, environ: dict[str, str]) -> Streams:
    """Streams for the message that the wanted ones cannot be opened."""
    options.values = {**options.values, "stdin": "", "stdout": "", "stderr": ""}
    try:
        return Streams(options, environ)
    except OSError:  # no temporary file either: use our own
        options.values = {**options.values, "stdout": "-", "stderr": "-"}
        return Streams(options, environ)


def _enter(options: Options) -> str:
    folder = options.value("workdir") or options.value("made workdir")
    try:
        if options.value("made workdir") and not os.path.isdir(folder):
            os.mkdir(folder)
        if folder:
            os.chdir(folder)
    except OSError as error:
        return f"working directory {folder}: {error.strerror}"
    return ""


def _run(
    options: Options, streams: Streams, environ: dict[str, str], trouble: str
) -> TaskOutcome:
    name = options.argv[0]
    begun = time.time()
    program = name
    try:
        if trouble:
            streams.say(trouble)
            print(trouble, file=sys.stderr)
            return TaskOutcome(program, begun, time.time(), 127, None)
        if options.flags.get("make executable") and os.path.isfile(name):
            keep_mode(name, os.stat(name).st_mode | 0o111, name)  # kickstart's -X
        program = find_program(name, environ)
        environ = with_darshan(bb_folder(), program, environ)
        child = _start(program, options.argv, environ, streams.numbers)
        child.limit(
            options.number("terminate after", 0), options.number("kill after", 5)
        )
        ended = child.wait()
        return TaskOutcome(program, begun, time.time(), ended.status, ended)
    except ProgramNotStarted as error:
        streams.say(str(error))
        print(error, file=sys.stderr)
        return TaskOutcome(program, begun, time.time(), error.status, None)


def _start(
    program: str, argv: list[str], environ: dict[str, str], streams: Sequence[int]
) -> RunningProgram:
    """Raises ProgramNotStarted."""
    if os.path.dirname(program) == os.path.dirname(sys.argv[0]):
        from pegasus_bb.runtime import own_programs

        name = own_programs.own_program(program)
        if name and own_programs.is_as_planned(program, sys.argv[0]):
            own_programs.load(name)
            return own_programs.OwnProgram(program, argv, environ, streams)
    return RunningProgram(program, argv, environ, streams)


def _facts(options: Options, outcome: TaskOutcome, started: float) -> Facts:
    """The record in its order, without files, for `pegasus-bb report`."""
    return {
        "version": Verbatim("3.0"),
        "recorder": RECORDER,
        "start": _instant(started),
        "duration": time.time() - started,
        **job_facts(options),
        "hostname": os.uname().nodename,
        "mainjob": _mainjob(options.argv, outcome),
        "cwd": _cwd(),
    }


def _cwd() -> str:
    try:
        return os.getcwd()
    except OSError:  # the task removed it
        return ""


def _mainjob(argv: list[str], outcome: TaskOutcome) -> Facts:
    ended = outcome.ended
    raw = ended.raw if ended else outcome.status << 8
    facts: Facts = {
        "start": _instant(outcome.begun),
        "duration": max(0.001, outcome.end - outcome.begun),
    }
    if ended:
        facts["pid"] = ended.pid
        facts["usage"] = _usage(ended.usage)
    facts["status"] = _status(raw)
    facts["executable"] = {"file_name": os.path.realpath(outcome.program)}
    facts["argument_vector"] = argv[1:]
    facts["procs"] = {ended.pid: _process(ended)} if ended else {}
    return facts


def _instant(seconds: float) -> Verbatim:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    part = f"{seconds % 1:.6f}"[1:5]
    return Verbatim(f"{whole}{part}+00:00")


def _usage(usage: Any) -> Facts:
    """A getrusage() with Kickstart's keys: seconds, KiB, blocks of 512 bytes."""
    return {
        "utime": usage.ru_utime,
        "stime": usage.ru_stime,
        "maxrss": usage.ru_maxrss,
        "inblock": usage.ru_inblock,
        "outblock": usage.ru_oublock,
    }


def _status(raw: int) -> Facts:
    if not os.WIFSIGNALED(raw):
        return {"raw": raw, "regular_exitcode": os.WEXITSTATUS(raw)}
    import signal  # with enum: 5 ms that a task which ends by itself does not pay

    number = os.WTERMSIG(raw)
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    return {
        "raw": raw,
        "signalled_signal": number,
        "signalled_name": name,
        "corefile": os.WCOREDUMP(raw),
    }


def _process(ended: Ended) -> Facts:
    """The row of the main process; descendants that it waited for are counted in."""
    counted = {key: getattr(ended.io, name, None) for key, name in _COUNTED.items()}
    return {"iowait": ended.iowait, **counted}


def _files(pairs: Sequence[tuple[str, str]], more: Facts) -> Facts:
    return {
        (_key(lfn),): {"lfn": lfn, **file_facts(path), **more} for lfn, path in pairs
    }


def _key(lfn: str) -> str:
    """Another key for a file that is named like a stream."""
    return f"./{lfn}" if lfn in ("stdin", "stdout", "stderr") else lfn


def _write(data: bytes, where: str, status: int) -> int:
    try:
        handle = 1
        if where != "-":
            handle = os.open(where, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view) :]
    except OSError as error:
        print(f"the record could not be written: {error.strerror}", file=sys.stderr)
        return status or 1
    return status
