"""Tries of one task of a chain in its place: the files of earlier tasks are there.

A failed try leaves the folders of the job as it has found them, or it is the last one:
the chain fails then, and DAGMan starts it anew. A signal is a word of the batch system,
which ends the job, so there is no other try after it.
"""

from __future__ import annotations

import os
import stat
from itertools import count

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.core.removal import remove
from pegasus_bb.runtime import proc
from pegasus_bb.runtime.job_reservation.planned import JOB_FOLDER, PlannedReservation
from pegasus_bb.runtime.records.streams import temporary
from pegasus_bb.runtime.scratch_links import checked_path
from pegasus_bb.runtime.task import tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Union

    _Look = Union[str, tuple[int, ...]]  # where a link leads, or what stat() says

TRIES = "# pegasus_bb tries: {}\n"  # precedes the record of a task tried again
_BY_SIGNAL = range(129, 193)  # exit statuses: 128 and the signal
_PIECE = 1 << 20  # bytes


def run_in_place(
    reservation: PlannedReservation,
    argv: list[str],
    environ: dict[str, str],
    attempt: Callable[[], int],
) -> int:
    """The exit status of the last ``attempt``, which runs ``argv``. The record of a try
    that another follows is on stderr: readers of stdout take each for a task."""
    here = os.getcwd()
    try:
        found = _Found(reservation, environ)
        output, _ = temporary("try", environ)
    except (PegasusBBError, OSError):  # without them it is tried once
        return attempt()
    for number in count(1):
        status, is_stopped = _captured(output, attempt)
        os.chdir(here)
        goes_on = status and not is_stopped and status not in _BY_SIGNAL
        is_last = not (goes_on and number <= reservation.retry and found.restore())
        if is_last and number > 1:
            os.write(1, TRIES.format(number).encode())
        _copy(output, 1 if is_last else 2)
        if is_last:
            break
        who = next((y for x, y in zip(argv, argv[1:]) if x == "-N"), argv[0])
        tell(f"{who}: try {number} ended with {status}; it is tried again in its place")
    return status


class _Found:
    """What is in the folders of a job before a task starts, and what links for its
    outputs lead to. Checkpoints are for the next try, whatever is in them."""

    def __init__(
        self, reservation: PlannedReservation, environ: dict[str, str]
    ) -> None:
        """Raises OSError, UsageError."""
        run = environ[JOB_FOLDER]
        temp = environ.get("PEGASUS_BB_TEMP")
        self._folders = [run, temp] if temp else [run]
        self._left_out = {checked_path(run, lfn) for lfn in reservation.checkpoints}
        links = [checked_path(run, lfn) for lfn in reservation.write]
        self._homes = [os.readlink(path) for path in links if os.path.islink(path)]
        self._before = dict(self._looks())

    def restore(self) -> bool:
        """Remove what is new, and mend links; whether all is as it was."""
        try:
            for path in [path for path, _ in self._looks() if path not in self._before]:
                remove(path)
            for path, look in self._before.items():
                if isinstance(look, str) and _look(path) != look:
                    remove(path)
                    os.symlink(look, path)
            return dict(self._looks()) == self._before
        except (PegasusBBError, OSError) as error:
            tell(f"what a failed try has left cannot be removed: {error}")
            return False

    def _looks(self) -> Iterator[tuple[str, _Look]]:
        yield from ((home, _look(home)) for home in self._homes if _look(home))
        folders = list(self._folders)
        while folders:
            with os.scandir(folders.pop()) as entries:
                paths = {entry.path for entry in entries} - self._left_out
            for path in paths:
                look = _look(path)
                yield path, look
                if isinstance(look, tuple) and stat.S_ISDIR(look[0]):
                    folders.append(path)


def _look(path: str) -> _Look:
    """What changes with ``path``; of a folder its mode, for its names are looked at.
    Empty if it is not there."""
    try:
        found = os.lstat(path)
        if stat.S_ISLNK(found.st_mode):
            return os.readlink(path)
    except FileNotFoundError:
        return ""
    if stat.S_ISDIR(found.st_mode):
        return (found.st_mode,)
    times = found.st_mtime_ns, found.st_ctime_ns
    return (found.st_mode, found.st_ino, found.st_size, *times)


def _captured(output: int, attempt: Callable[[], int]) -> tuple[int, bool]:
    """The exit status of ``attempt``, whose stdout goes to file ``output``, and whether
    a signal came meanwhile."""
    signals: list[int] = []
    outer, proc.told = proc.told, signals.append
    stdout = os.dup(1)
    os.ftruncate(output, 0)
    os.lseek(output, 0, os.SEEK_SET)
    os.dup2(output, 1)
    try:
        return attempt(), bool(signals)
    finally:
        os.dup2(stdout, 1)
        os.close(stdout)
        proc.told = outer


def _copy(output: int, stream: int) -> None:
    """Copy file ``output`` to a stream of this process. Raises OSError."""
    os.lseek(output, 0, os.SEEK_SET)
    while piece := os.read(output, _PIECE):
        while piece:
            piece = piece[os.write(stream, piece) :]
