"""Keeps what a failed job has in a folder of its own: --bb-keep-failed.

    <submit>/bb/failed/<node>.<try>/      the files
    <submit>/bb/failed/<node>.<try>.json  how many, and what is not there

Each file is copied whole, compared, and made durable, the smallest first. The folder
has its name when nothing more is copied. It is the user's then: nothing removes it.
"""

from __future__ import annotations

import itertools
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.files import sync_directory, write_json
from pegasus_bb.core.light_typing import NamedTuple
from pegasus_bb.core.paths import is_below
from pegasus_bb.core.removal import remove
from pegasus_bb.core.units import format_files, format_size
from pegasus_bb.runtime.bbdir import FAILED, BBDir
from pegasus_bb.runtime.staging.failures import CopyFailed
from pegasus_bb.runtime.staging.onefile import copy_file, digest_file
from pegasus_bb.runtime.staging.parts import parts_in
from pegasus_bb.runtime.stop_signals import Say, StopSignals
from pegasus_bb.runtime.task import tell

_NOT_KEPT = "the folder of this failed try is NOT KEPT"


class FailedTry(NamedTuple):
    node: str
    job: str  # HTCondor's number of the try
    folder: str
    inputs: Mapping[str, str] = {}  # path in the folder -> its file on the PFS


class _Found(NamedTuple):
    path: str  # below the folder
    size: int  # bytes


def run_and_keep(
    bb: BBDir,
    node: str,
    folder: str,
    within: int,
    environ: Mapping[str, str],
    work: Callable[[], int],
) -> int:
    """The exit status of ``work``, a task in its private ``folder``. If it fails, or a
    signal ends the job, the folder is kept. Raises what ``work`` raises."""
    status = 1
    with StopSignals(within) as signals:
        try:
            status = work()
            return status
        finally:
            if status:
                signals.saves = True
                job = environ.get("CONDOR_JOBID") or "0.0"
                keep(bb, FailedTry(node, job, folder), signals)


def keep(bb: BBDir, failed: FailedTry, signals: StopSignals) -> None:
    """Copy the folder of a failed try to the submit directory, and say where it is."""
    kept = _Keeping(bb, failed)
    try:
        kept.begin()
        lines, why = signals.save(kept.copy)
        tell(kept.named(lines, why))
    except OSError as error:
        where = error.filename or kept.path
        tell(f"{_NOT_KEPT}: {where}: {error.strerror}")


class _Keeping:
    def __init__(self, bb: BBDir, failed: FailedTry) -> None:
        self._failed = failed
        self._all = bb.file(FAILED)
        self.path = _free_name(os.path.join(self._all, f"{failed.node}.{failed.job}"))
        self._part = os.path.join(self._all, f".{failed.node}.{failed.job}.part")
        self._left: list[str] = []  # what cannot be kept, and why

    def begin(self) -> None:
        """Raises OSError."""
        os.makedirs(self._all, exist_ok=True)
        for name in os.listdir(self._all):
            if self._is_of_a_killed_try(name):
                remove(os.path.join(self._all, name))
        os.mkdir(self._part, 0o700)

    def _is_of_a_killed_try(self, name: str) -> bool:
        begins, ends = f".{self._failed.node}.", ".part"
        if not (name.startswith(begins) and name.endswith(ends)):
            return False
        cluster, _, rest = name[len(begins) : -len(ends)].partition(".")
        process, _, note = rest.partition(".")
        is_number = cluster.isdigit() and process.split("-")[0].isdigit()
        return is_number and (not note or note.startswith("json."))

    def copy(self, say: Say) -> None:
        """Copy folders and links, then files, the smallest first. Says how many there
        are, then the size of each copy, or why there is none. Stops where the disk is
        full."""
        from pegasus_bb.runtime.job_reservation.disk import is_full

        found = sorted(self._walk(), key=lambda each: each.size)
        say(str(len(found) + len(self._left)))
        for why in self._left:
            say(why)
        for path, size in found:
            try:
                self._copy_file(path)
                say(str(size))
            except (PegasusBBError, OSError) as error:
                say(_words(error, path))
                if is_full(error):
                    return

    def _walk(self) -> Iterator[_Found]:
        """Yield the files; folders and links are made at once. Without rights, or of
        another kind, it is left out. No depth is too deep, but for a path as long as
        the system takes."""
        folders = [""]
        while folders:
            below = folders.pop()
            try:
                with os.scandir(os.path.join(self._failed.folder, below)) as entries:
                    for entry in entries:
                        path = os.path.join(below, entry.name)
                        try:
                            yield from self._entry(entry, path, folders)
                        except OSError as error:
                            self._left.append(_words(error, path))
            except OSError as error:
                self._left.append(_words(error, below))

    def _entry(
        self, entry: os.DirEntry[str], path: str, folders: list[str]
    ) -> Iterator[_Found]:
        copy = os.path.join(self._part, path)
        if path in self._failed.inputs:
            os.symlink(self._failed.inputs[path], copy)
        elif entry.is_symlink():
            os.symlink(self._target(path), copy)
        elif entry.is_dir():
            os.mkdir(copy)
            folders.append(path)
        else:
            found = entry.stat()
            if stat.S_ISREG(found.st_mode):
                yield _Found(path, found.st_size)
            else:
                self._left.append(f"{path}: is no file")

    def _target(self, path: str) -> str:
        """Where the copy of a link leads: inside, if it does so in the folder."""
        folder = self._failed.folder
        text = os.readlink(os.path.join(folder, path))
        if not is_below(text, folder):
            return text
        return os.path.relpath(text, os.path.join(folder, os.path.dirname(path)))

    def _copy_file(self, path: str) -> None:
        copy = os.path.join(self._part, path)
        copied = copy_file(os.path.join(self._failed.folder, path), copy)
        if digest_file(copy, copied.digest) != copied.digest:
            os.unlink(copy)
            raise CopyFailed(f"{path}: the copy has other bytes")

    def named(self, lines: Sequence[str], why: str) -> str:
        """Give it its name; what was kept, by the ``lines`` of ``copy``. ``why`` that
        ended early. Raises OSError."""
        if not lines:
            remove(self._part)
            return f"{_NOT_KEPT}: {why}"
        if why:
            self._remove_half_files()
        sizes = [int(line) for line in lines[1:] if line.isdigit()]
        left = int(lines[0]) - len(sizes)
        why = next((line for line in lines[1:] if not line.isdigit()), why)
        self._note(len(sizes), sum(sizes), left)
        os.rename(self._part, self.path)
        sync_directory(self._all)
        kept = f"{self.path}: {format_files(len(sizes))}, {format_size(sum(sizes))}"
        lacks = f"; NOT KEPT: {left} of {lines[0]} files: {why}" if left else ""
        return f"the folder of this failed try is kept: {kept}{lacks}"

    def _remove_half_files(self) -> None:
        """Remove the one that was copied when the process was killed."""
        folders = [self._part]
        while folders:
            folder = folders.pop()
            for parts in parts_in(folder).values():
                for part in parts:
                    os.unlink(part)
            with os.scandir(folder) as entries:
                folders += [e.path for e in entries if e.is_dir(follow_symlinks=False)]

    def _note(self, files: int, size: int, left: int) -> None:
        note = {
            "version": 1,
            "node": self._failed.node,
            "job": self._failed.job,
            "files": files,
            "size": size,
            "left": left,
            "time": time.time(),
        }
        write_json(f"{self.path}.json", note)


def _free_name(path: str) -> str:
    """HTCondor starts an evicted job again under its number."""
    names = itertools.chain([path], (f"{path}-{n}" for n in itertools.count(2)))
    return next(name for name in names if not os.path.lexists(name))


def _words(error: Exception, path: str) -> str:
    if isinstance(error, OSError):
        return f"{error.filename or path}: {error.strerror}"
    return str(error)
