"""A job's temporary files on the disk of its node: the key ``temp`` of a tier.

TMPDIR, TMP and TEMP are a folder on that disk, empty at the start, which goes with the
job's own. A process beside the task looks at its size, since a task removes most of its
temporary files itself.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Callable, Iterator, MutableMapping

from pegasus_bb.runtime.fork_worker import fork_worker
from pegasus_bb.runtime.records.streams import NODE_TEMP
from pegasus_bb.runtime.task import discard

NAMES = ("TMPDIR", "TMP", "TEMP")
FOLDER = "PEGASUS_BB_TEMP"  # in the environment of a job that has such a folder
_FIRST, _POLL = 0.05, 1.0  # seconds until the first look; between two, in the end
_SHARE = 20  # a look takes one part in so many of the time
_BLOCK = 512  # bytes: the unit of st_blocks


class Peak:
    """The most that a folder held, in bytes; None until it is known."""

    size: int | None = None


@contextlib.contextmanager
def temporary_files(base: str, environ: MutableMapping[str, str]) -> Iterator[Peak]:
    """Let ``environ`` name a new folder below ``base`` for temporary files, and measure
    the most that is in it. Raises OSError before the task."""
    folder = os.path.join(base, "tmp")
    os.mkdir(folder, 0o700)
    # What the recorder keeps of the task's output: its last words on a full disk, too.
    environ[NODE_TEMP] = environ.get(NAMES[0]) or "/tmp"  # noqa: S108
    _name(environ, folder)
    peak = Peak()
    watcher, stop, answer = _watch(folder)
    try:
        yield peak
    finally:
        os.close(stop)
        peak.size = _answer(watcher, answer)


def run_one_task(environ: MutableMapping[str, str], run: Callable[[], int]) -> int:
    """The exit status of ``run``, a task of a cluster: it finds an empty folder, too.
    What a failed one leaves goes with the job: a full disk is told before that."""
    folder = os.path.join(environ[FOLDER], f"task.{os.getpid()}")
    os.mkdir(folder, 0o700)
    _name(environ, folder)
    status = run()
    if not status:
        discard(folder)
    return status


def _name(environ: MutableMapping[str, str], folder: str) -> None:
    environ.update(dict.fromkeys((*NAMES, FOLDER), folder))


def _watch(folder: str) -> tuple[int, int, int]:
    """Start the process that looks: its number, the descriptor whose end ends it, and
    that of its answer."""
    ended, stop = os.pipe()
    answer, say = os.pipe()

    def look() -> None:
        os.close(stop)
        os.close(answer)
        os.write(say, str(_peak_until(ended, folder)).encode())

    pid = fork_worker(look)
    os.close(ended)
    os.close(say)
    return pid, stop, answer


def _peak_until(ended: int, folder: str) -> int:
    peak = 0
    pause = _FIRST
    while not select.select([ended], [], [], pause)[0]:
        begun = time.monotonic()
        peak = max(peak, size_of(folder))
        pause = max(min(2 * pause, _POLL), _SHARE * (time.monotonic() - begun))
    return max(peak, size_of(folder))


def _answer(watcher: int, answer: int) -> int | None:
    with open(answer, "rb") as given:
        text = given.read()
    os.waitpid(watcher, 0)
    return int(text) if text else None  # it was killed


def size_of(folder: str) -> int:
    """The bytes on the disk of all that is below ``folder``; what vanishes meanwhile,
    or is closed to us, counts as nothing."""
    total = 0
    folders = [folder]
    while folders:
        with contextlib.suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    total += status.st_blocks * _BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
    return total
