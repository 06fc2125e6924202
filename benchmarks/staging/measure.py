"""What one run of a program costs: wall, processor, memory of all its processes.

The run is over when everything that it started has ended and the file system of the
destination is on disk: no program wins by leaving work behind.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.staging.sets import RunFailed
from pegasus_bb.runtime.staging import durable

TIMEOUT = 900.0
_EVERY = 0.05
# of prctl
_SUBREAPER = 36
_DEATH_SIGNAL = 1
_libc = ctypes.CDLL(None)


@dataclass(frozen=True)
class Cost:
    """Seconds on the wall and of processor; the most MiB held at one moment."""

    wall: float
    cpu: float
    mib: float


def run(argv: Sequence[str], dest: Path, said: Path) -> Cost:
    """Run ``argv`` and bring the file system of ``dest`` to disk.

    Its output goes to the file ``said``. Raises RunFailed, with the end of it.
    """
    # In a process of its own: it counts, and waits for, what it started and no other.
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        try:
            os.write(writer, json.dumps(_supervised(argv, dest, said)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    try:
        with open(reader, encoding="utf-8") as answer:  # noqa: PTH123 - a descriptor
            text = answer.read()
    except BaseException:  # stopping the benchmark stops its program
        os.kill(pid, signal.SIGTERM)
        raise
    finally:
        os.waitpid(pid, 0)
    if not text:
        raise RunFailed(f"{argv[0]} could not be started, or watched: see above")
    status, wall, cpu, mib = json.loads(text)
    if status != 0:
        words = said.read_text(errors="replace")[-500:].strip()
        raise RunFailed(f"{argv[0]} ended with {status}: {words}")
    return Cost(wall, cpu, mib)


def _supervised(argv: Sequence[str], dest: Path, said: Path) -> tuple[float, ...]:
    """Exit status, seconds, seconds of processor, MiB."""
    # What it leaves behind becomes ours to wait for.
    _libc.prctl(_SUBREAPER, 1, 0, 0, 0)
    _libc.prctl(_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)
    begun = time.perf_counter()
    # A signal that comes between the start and the handler would leave the program.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    pid = _start(argv, said)
    signal.signal(signal.SIGTERM, lambda *_: _kill(pid))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    with _memory_watch() as most:
        status = _wait_for_all(pid, begun + TIMEOUT)
        sync_file_system(dest)
    wall = time.perf_counter() - begun
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return status, wall, usage.ru_utime + usage.ru_stime, most[0] / 1024


def sync_file_system(path: Path) -> None:
    where = os.open(path, os.O_RDONLY)
    try:
        durable.sync_file_system(where)
    finally:
        os.close(where)


def _start(argv: Sequence[str], said: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    return os.posix_spawnp(
        argv[0],
        list(argv),
        os.environ,
        setsid=True,
        setsigmask=(),
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(said), flags, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
    )


def _wait_for_all(pid: int, until: float) -> int:
    """The exit status of ``pid``, once it and all that it left behind have ended."""
    killer = threading.Timer(until - time.perf_counter(), _kill, (pid,))
    killer.start()
    status = 0
    try:
        while True:
            ended, raw = os.waitpid(-1, 0)
            if ended == pid:
                status = os.waitstatus_to_exitcode(raw)
    except ChildProcessError:
        return status
    finally:
        killer.cancel()


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


@contextmanager
def _memory_watch() -> Iterator[list[int]]:
    """One number: the most KiB that all processes below this one held."""
    most = [0]
    done = threading.Event()

    def look() -> None:
        while not done.wait(_EVERY):
            # Each one's own peak, so that a short one between two looks still counts.
            most[0] = max(most[0], sum(map(_peak, _below(os.getpid()))))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield most
    finally:
        done.set()
        thread.join()


def _below(pid: int) -> Iterator[int]:
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - names are all we need
        for thread in threads:
            text = Path(f"/proc/{pid}/task/{thread}/children").read_text()
            for child in map(int, text.split()):
                yield child
                yield from _below(child)
    except OSError:
        return  # ended meanwhile


def _peak(pid: int) -> int:
    """KiB of memory that a process had at its peak; 0 where it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
