"""engine.jsonl: the processes of this engine, so that the next one can kill leftovers.

A process is identified by PID and start time (PIDs are reused), and by a mark in its
environment, which also finds processes started just as the engine was killed, and
those that a task has put into sessions of their own.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pegasus_bb.core.errors import RunFailed
from pegasus_bb.core.files import read_journal
from pegasus_bb.runtime.marked_processes import processes_with, start_time

_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Processes:
    VARIABLE = "_PEGASUS_BB_NODE"

    def __init__(self, path: Path) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
        self._handle = os.open(path, flags, 0o644)
        self._path = path
        self._torn = False
        host = socket.gethostname()
        self._note({"boot": _boot(), "host": host, "engine": os.getpid()})

    def starting(self, mark: str) -> None:
        """A process with this mark may exist from now on."""
        self._note({"starting": mark})

    def started(self, mark: str, pid: int) -> None:
        """Record its PID. If that cannot be written, its mark is enough."""
        with suppress(OSError):
            self._note({"mark": mark, "pid": pid, "start": start_time(pid)})

    def ended(self, pid: int) -> None:
        """Record its end. If that cannot be written, its start time shows it."""
        with suppress(OSError):
            self._note({"ended": pid})

    def close(self) -> None:
        os.close(self._handle)

    def _note(self, entry: dict[str, object]) -> None:
        line = b"\n" * self._torn + json.dumps(entry).encode() + b"\n"
        self._torn = True
        if os.write(self._handle, line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._path))
        self._torn = False


def end_left_over(path: Path, patience: float = 30.0) -> list[str]:
    """Kill the processes that a killed engine has left running; returns their marks.

    Raises RunFailed where one of them does not end.
    """
    found = alive = left_over(path)
    deadline = time.monotonic() + patience
    pause = 0.005
    while alive:
        for pid in alive:
            _kill(pid)
        time.sleep(pause)
        pause = min(pause * 2, 0.2)
        alive = left_over(path)
        if alive and time.monotonic() > deadline:
            raise RunFailed(
                "an earlier run was killed and left processes that do not end: "
                + ", ".join(f"{pid} ({mark})" for pid, mark in alive.items())
                + "; end them, then run again"
            )
    return sorted(set(found.values()))


def left_over(path: Path) -> dict[int, str]:
    """Processes that a killed engine has left running: PID -> mark.

    Raises RunFailed where the engine ran on another host.
    """
    marks, known = _possibly_alive(path)
    return dict(_processes_with(marks)) | _still_running(known) if marks else {}


def kill_marked(marks: set[str]) -> None:
    """Kill all processes with one of ``marks`` (some may have left their group)."""
    for pid, _ in _processes_with(marks):
        _kill(pid)


def _possibly_alive(path: Path) -> tuple[set[str], dict[int, tuple[int, str]]]:
    """Marks of processes that may be alive; PID -> start time and mark where known."""
    marks: dict[str, int] = {}  # mark -> PID, 0 where not known yet
    known: dict[int, tuple[int, str]] = {}
    this_boot = True
    host = socket.gethostname()
    for entry in read_journal(str(path)):
        if "boot" in entry:
            this_boot = entry["boot"] == _boot()
            host = entry.get("host", host)
        elif "starting" in entry:
            marks[entry["starting"]] = 0
        elif "mark" in entry:
            marks[entry["mark"]] = entry["pid"]
            known[entry["pid"]] = (entry["start"], entry["mark"])
        elif "ended" in entry and entry["ended"] in known:
            marks.pop(known.pop(entry["ended"])[1], None)
    if marks and host != socket.gethostname():
        raise RunFailed(
            f"the engine before was killed on host {host} and may have left jobs "
            f"running there: run on {host}; or, once none of them runs any more, "
            f"remove {path}"
        )
    return (set(marks), known) if this_boot else (set(), {})


def _still_running(known: dict[int, tuple[int, str]]) -> dict[int, str]:
    """Those that still run: the PID has the same start time."""
    return {
        pid: mark
        for pid, (start, mark) in known.items()
        if start and start_time(pid) == start
    }


def _processes_with(marks: set[str]) -> Iterator[tuple[int, str]]:
    """Running processes of this user that have one of ``marks``."""
    wanted = {
        f"{Processes.VARIABLE}={mark}".encode(errors="surrogateescape"): mark
        for mark in marks
    }
    return ((pid, wanted[found]) for pid, found in processes_with(wanted))


def _kill(pid: int) -> None:
    """Kill the process group that ``pid`` leads, else the process."""
    try:
        if os.getpgid(pid) == pid:
            os.killpg(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _boot() -> str:
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return ""
