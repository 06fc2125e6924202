"""engine.jsonl: the processes of this engine, so that the next one can end them.

A process is known by number and start time (a number alone is used again), and by a
mark in its environment, which finds also what was started in the very moment in which
the engine was killed, and what a task has put into a session of its own.
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

from pegasus_bb.errors import RunFailed
from pegasus_bb.files import read_journal

_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Processes:
    VARIABLE = "_PEGASUS_BB_NODE"

    def __init__(self, path: Path) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
        self._handle = os.open(path, flags, 0o644)
        self._path, self._torn = path, False
        host = socket.gethostname()
        self._note({"boot": _boot(), "host": host, "engine": os.getpid()})

    def starting(self, mark: str) -> None:
        """A process with this mark may exist from now on."""
        self._note({"starting": mark})

    def started(self, mark: str, pid: int) -> None:
        """It has this number. Where that cannot be written, its mark will do."""
        with suppress(OSError):
            self._note({"mark": mark, "pid": pid, "start": start_time(pid)})

    def ended(self, pid: int) -> None:
        """It was waited for. Where that cannot be written, its start time tells."""
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
    """End what an engine that was killed has left running; gives back the marks.

    Returns when all of it has ended. Raises RunFailed where something stays.
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
    """What an engine that was killed has left running: number -> mark.

    Raises RunFailed where that was on another host.
    """
    marks, known = _left(path)
    return dict(_with_marks(marks)) | _same(known) if marks else {}


def kill_marked(marks: set[str]) -> None:
    """End whatever still carries one of ``marks`` (a leader may leave a group)."""
    for pid, _ in _with_marks(marks):
        _kill(pid)


def _left(path: Path) -> tuple[set[str], dict[int, tuple[int, str]]]:
    """Marks that may be alive; number -> start time and mark of those known."""
    marks: dict[str, int] = {}  # mark -> number, 0 where not known yet
    known: dict[int, tuple[int, str]] = {}
    this_boot, host = True, socket.gethostname()
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


def _same(known: dict[int, tuple[int, str]]) -> dict[int, str]:
    """Those that still run: same number, same start time."""
    return {
        pid: mark
        for pid, (start, mark) in known.items()
        if start and start_time(pid) == start
    }


def _with_marks(marks: set[str]) -> Iterator[tuple[int, str]]:
    """Running processes of this user that carry one of ``marks``."""
    wanted = {
        f"{Processes.VARIABLE}={mark}".encode(errors="surrogateescape"): mark
        for mark in marks
    }
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            environment = Path(entry.path, "environ").read_bytes()
        except OSError:
            continue
        for variable in environment.split(b"\0"):
            if variable in wanted and start_time(int(entry.name)):
                yield int(entry.name), wanted[variable]


def start_time(pid: int) -> int:
    """When ``pid`` was started, in ticks since boot; 0 where it does not run."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return 0
    fields = text[text.rindex(b")") + 2 :].split()  # a name may hold blanks and )
    return 0 if fields[0] in (b"Z", b"X") else int(fields[19])


def _kill(pid: int) -> None:
    """The whole group where ``pid`` leads one, else the process."""
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
