"""Tries of one task of a chain in its place: the files of earlier tasks are there.

A failed try leaves the folders of the job as it has found them, or it is the last one:
the chain fails then, and DAGMan starts it anew. A signal is a word of the batch system,
which ends the job, so there is no other try after it.
"""

from __future__ import annotations

import os
import stat

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.core.removal import remove
from pegasus_bb.runtime import proc
from pegasus_bb.runtime.job_reservation.planned import JOB_FOLDER, PlannedReservation
from pegasus_bb.runtime.records.kickstart_options import parse_options
from pegasus_bb.runtime.records.streams import temporary
from pegasus_bb.runtime.scratch_links import checked_path
from pegasus_bb.runtime.task import tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Union

    _Look = Union[str, tuple[int, ...]]  # where a link leads, or what stat() says

TRIES = b"# pegasus_bb tries: %d\n"  # precedes the record of a task tried again
_BY_SIGNAL = range(129, 193)  # exit statuses: 128 and the signal
_PIECE = 1 << 20  # bytes


def run_in_place(
    reservation: PlannedReservation,
    argv: Sequence[str],
    environ: dict[str, str],
    attempt: Callable[[], int],
) -> int:
    """The exit status of the last ``attempt``, which runs ``argv``. The record of a try
    that another follows is on stderr: readers of stdout take each for a task."""
    folders = [
        environ[name] for name in (JOB_FOLDER, "PEGASUS_BB_TEMP") if name in environ
    ]
    here = os.getcwd()
    try:
        found = _Found(folders, reservation)
        output, _ = temporary("try", environ)
    except (PegasusBBError, OSError):  # without them it is tried once
        return attempt()
    for number in range(1, reservation.retry + 1):
        status, is_stopped = _captured(output, attempt)
        os.chdir(here)
        why = "" if is_stopped or status in _BY_SIGNAL else f"ended with {status}"
        if not status or not why or not found.restore():
            _copy(output, 1, number)
            return status
        _copy(output, 2)
        tell(f"{_name(argv)}: try {number} {why}; it is tried again in its place")
    _say_tries(reservation.retry + 1)
    return attempt()


class _Found:
    """What is in the ``folders`` of a job before a task starts, and what links for its
    outputs lead to. Checkpoints are for the next try, whatever is in them."""

    def __init__(self, folders: Sequence[str], reservation: PlannedReservation) -> None:
        """Raises OSError, UsageError."""
        run = folders[0]
        self._folders = folders
        self._left_out = {checked_path(run, lfn) for lfn in reservation.checkpoints}
        links = (checked_path(run, lfn) for lfn in reservation.write)
        self._homes = [os.readlink(path) for path in links if os.path.islink(path)]
        self._before = dict(self._looks())

    def restore(self) -> bool:
        """Remove what is new, and mend links; whether all is as it was."""
        try:
            for path, _ in list(self._looks()):
                if path not in self._before:
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
        yield from (
            (home, _look(home)) for home in self._homes if os.path.lexists(home)
        )
        folders = list(self._folders)
        while folders:
            with os.scandir(folders.pop()) as entries:
                paths = [entry.path for entry in entries]
            for path in paths:
                if path not in self._left_out:
                    yield path, _look(path)
                    if os.path.isdir(path) and not os.path.islink(path):
                        folders.append(path)


def _look(path: str) -> _Look:
    """What changes with ``path``; of a folder its mode, for its names are looked at.
    Empty if it is not there."""
    try:
        found = os.lstat(path)
        if stat.S_ISLNK(found.st_mode):
            return os.readlink(path)
    except FileNotFoundError:
        return ()
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


def _copy(output: int, stream: int, tries: int = 1) -> None:
    """Copy file ``output`` to a stream of this process. Raises OSError."""
    if tries > 1:
        _say_tries(tries)
    os.lseek(output, 0, os.SEEK_SET)
    while piece := os.read(output, _PIECE):
        view = memoryview(piece)
        while view:
            view = view[os.write(stream, view) :]


def _say_tries(number: int) -> None:
    os.write(1, TRIES % number)


def _name(argv: Sequence[str]) -> str:
    """The id of the job in the workflow, as its recorder has it."""
    try:
        return parse_options(argv[1:]).value("derivation", os.path.basename(argv[0]))
    except PegasusBBError:
        return os.path.basename(argv[0])
