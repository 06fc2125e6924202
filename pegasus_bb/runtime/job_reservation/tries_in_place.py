"""Tries of one task of a chain in its place: the files of earlier tasks are there.

A failed try leaves the folders of the job as it has found them, or it is the last one:
the chain fails then, and DAGMan starts it anew. A signal is a word of the batch system,
which ends the job, so there is no other try after it.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
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
    from collections.abc import Callable, Iterable, Iterator
    from typing import Union

    _Look = Union[str, tuple[int, ...]]  # where a link leads, or what stat() says

TRIES = "# pegasus_bb tries: {}\n"  # precedes the record of a task tried again
_STOPPED = range(129, 193)  # exit statuses: 128 and the signal
_NOT_STARTED = (126, 127)  # the program is no better the next time
_PIECE = 1 << 20  # bytes


def run_in_place(
    reservation: PlannedReservation,
    argv: list[str],
    environ: dict[str, str],
    attempt: Callable[[], int],
) -> int:
    """The exit status of the last ``attempt``, which runs ``argv``. The record of a try
    that another follows is on stderr: readers of stdout take each for a task."""
    try:
        found = _Found(reservation, environ)
        output, _ = temporary("try", environ)
    except (PegasusBBError, OSError):  # without them it is tried once
        return attempt()
    with _noted_signals() as signals:
        for number in count(1):
            status = _captured(output, attempt)
            may_go_on = number <= reservation.retry and _may_be_tried(status)
            restored = may_go_on and not signals and found.restore()
            is_last = not restored or bool(signals)  # or one came in the meantime
            if is_last and number > 1:
                os.write(1, TRIES.format(number).encode())
            _copy(output, 1 if is_last else 2)
            if is_last:
                break
            who = next((y for x, y in zip(argv, argv[1:]) if x == "-N"), argv[0])
            ended = f"{who}: try {number} ended with {status}"
            tell(f"{ended}; it is tried again in its place")
    return status


def _may_be_tried(status: int) -> bool:
    """Whether a try that ended with ``status`` may be followed by another one."""
    return status not in (0, *_NOT_STARTED) and status not in _STOPPED


@contextmanager
def _noted_signals() -> Iterator[list[int]]:
    """Those that came to this process; a program that it runs gets them, too."""
    signals: list[int] = []

    def note(number: int, frame: object) -> None:
        signals.append(number)

    caught = (*proc.FORWARDED, *proc.also_forwarded)
    before = proc.set_handlers(caught, note)
    told, proc.told = proc.told, signals.append
    try:
        yield signals
    finally:
        proc.told = told
        proc.restore_handlers(before)


class _Found:
    """What is in the folders of a job before a task starts, what links for its outputs
    lead to, and inputs behind links. Checkpoints are for the next try, whatever is in
    them."""

    def __init__(
        self, reservation: PlannedReservation, environ: dict[str, str]
    ) -> None:
        """Raises OSError, UsageError."""
        self._run = run = environ[JOB_FOLDER]
        self._here = os.getcwd()
        temp = environ.get("PEGASUS_BB_TEMP")
        self._folders = [run, temp] if temp else [run]
        self._identities = [_identity(folder) for folder in self._folders]
        self._left_out = {checked_path(run, lfn) for lfn in reservation.checkpoints}
        self._homes = _targets(run, reservation.write)
        self._inputs = _targets(run, (*reservation.read, *reservation.shared))
        self._inputs_before = [_look(path) for path in self._inputs]
        self._before = dict(self._looks())

    def restore(self) -> bool:
        """Remove what is new, mend links, and go back to where the task started;
        whether all is as it was, and nothing of the task runs on."""
        try:
            return self._is_untouched() and self._restored()
        except (PegasusBBError, OSError) as error:
            tell(f"what a failed try has left cannot be removed: {error}")
            return False

    def _is_untouched(self) -> bool:
        """Whether the folders are the same ones: another may be anybody's, by a
        link."""
        if [_identity(folder) for folder in self._folders] != self._identities:
            return False
        if [_look(path) for path in self._inputs] != self._inputs_before:
            return False
        if left := _left_running(self._run):
            tell(
                f"process {left} of a failed try runs on: it is not tried in its place"
            )
            return False
        return True

    def _restored(self) -> bool:
        os.chdir(self._here)
        for path in [path for path, _ in self._looks() if path not in self._before]:
            remove(path)
        for path, look in self._before.items():
            if isinstance(look, str) and _look(path) != look:
                remove(path)
                os.symlink(look, path)
        return dict(self._looks()) == self._before

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


def _identity(folder: str) -> tuple[int, int, int]:
    """Raises OSError."""
    found = os.lstat(folder)
    return (found.st_dev, found.st_ino, found.st_mode)


def _targets(run: str, lfns: Iterable[str]) -> list[str]:
    """What those of ``lfns`` that are links lead to."""
    links = (checked_path(run, lfn) for lfn in lfns)
    return [os.readlink(path) for path in links if os.path.islink(path)]


def _left_running(run: str) -> int:
    """A process that a task in folder ``run`` has left; 0 if there is none."""
    from pegasus_bb.runtime.marked_processes import ancestors, processes_with

    above = set(ancestors(os.getpid()))  # the chain, which starts its tasks
    marked = processes_with({f"{JOB_FOLDER}={run}".encode()})
    return next((pid for pid, _ in marked if pid not in above), 0)


def _captured(output: int, attempt: Callable[[], int]) -> int:
    """The exit status of ``attempt``, whose stdout goes to file ``output``."""
    stdout = os.dup(1)
    os.ftruncate(output, 0)
    os.lseek(output, 0, os.SEEK_SET)
    os.dup2(output, 1)
    try:
        return attempt()
    finally:
        os.dup2(stdout, 1)
        os.close(stdout)


def _copy(output: int, stream: int) -> None:
    """Copy file ``output`` to a stream of this process. Raises OSError."""
    os.lseek(output, 0, os.SEEK_SET)
    while piece := os.read(output, _PIECE):
        while piece:
            piece = piece[os.write(stream, piece) :]
