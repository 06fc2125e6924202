"""Checks which results of one try have arrived, by size and digest."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Mapping

from pegasus_bb.core.files import make_folder_of, sync_directory
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.core.removal import remove
from pegasus_bb.runtime.job_reservation.planned import landing_of
from pegasus_bb.runtime.scratch_links import checked_path
from pegasus_bb.runtime.staging.durable import sync_file_system
from pegasus_bb.runtime.staging.failures import CopyFailed
from pegasus_bb.runtime.staging.folder_lfns import digest_path
from pegasus_bb.runtime.staging.items import stamp

if TYPE_CHECKING:
    from typing import Any

Seen = dict[str, list[int]]  # LFN -> stamp of a copy with a wrong digest


def _rename(landed: str, dest: str) -> None:
    """Rename a result; a folder that is closed to writing is open meanwhile, since its
    ``..`` changes. Raises OSError."""
    try:
        os.rename(landed, dest)
    except PermissionError:
        found = os.lstat(landed)
        if not stat.S_ISDIR(found.st_mode) or found.st_mode & stat.S_IWUSR:
            raise
        os.chmod(landed, stat.S_IMODE(found.st_mode) | stat.S_IWUSR)
        os.rename(landed, dest)
        os.chmod(dest, stat.S_IMODE(found.st_mode))


class StageOutLanding:
    """The folder of the run's scratch where the results of one try arrive. Results that
    are incomplete, late, or of an older try never get their final names."""

    def __init__(
        self, scratch: str, node: str, job: str, files: Mapping[str, Any]
    ) -> None:
        self._scratch = scratch
        self._files = files
        self.folder = landing_of(scratch, node, job)

    def missing(self, wrong: Seen) -> dict[str, str]:
        """LFN -> what is missing or wrong; empty if all results have arrived.

        Digests are checked when all sizes fit, and again only if a file has changed
        since it was ``wrong``. Raises OSError.
        """
        if not os.path.isdir(self._scratch):
            message = f"{self._scratch} cannot be seen on this machine: it has to be"
            return {next(iter(self._files)): message} if self._files else {}
        faults = {lfn: why for lfn in self._files if (why := self._size_fault(lfn))}
        return faults or {
            lfn: why for lfn in self._files if (why := self._digest_fault(lfn, wrong))
        }

    def sync(self) -> None:
        """Make all that has arrived durable. May be repeated. Raises OSError."""
        with contextlib.suppress(FileNotFoundError):  # all have their final names
            handle = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                sync_file_system(handle)
            finally:
                os.close(handle)

    def name(self) -> None:
        """Give every file its final name. May be repeated. Raises OSError."""
        folders = set()
        for lfn in self._files:
            landed = self._arrived(lfn)
            dest = checked_path(self._scratch, lfn)
            if landed == dest:
                continue
            folders.add(os.path.dirname(dest))
            make_folder_of(dest)
            if os.path.isdir(dest) and not os.path.islink(dest):
                remove(dest)  # of an older try; nothing can be renamed over it
            _rename(landed, dest)
        for folder in folders:
            sync_directory(folder)
        remove(self.folder)
        with contextlib.suppress(OSError):  # where older tries have left something
            os.rmdir(os.path.dirname(self.folder))

    def _arrived(self, lfn: str) -> str:
        arrived = os.path.join(self.folder, lfn)
        return arrived if os.path.lexists(arrived) else checked_path(self._scratch, lfn)

    def _size_fault(self, lfn: str) -> str:
        path = self._arrived(lfn)
        size = self._files[lfn]["size"]
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            return f"{os.path.join(self.folder, lfn)} is not there"
        if os.path.isdir(path) or status.st_size == size:
            return ""
        return f"{path} has {status.st_size} bytes of {size}"

    def _digest_fault(self, lfn: str, wrong: Seen) -> str:
        path = self._arrived(lfn)
        now = stamp(os.lstat(path))
        message = f"{path} has other bytes than the task wrote"
        if wrong.get(lfn) == now:
            return message
        wrong.pop(lfn, None)
        try:
            expected = self._files[lfn]["digest"]
            if digest_path(path, expected) == expected:
                return ""
        except CopyFailed as error:
            return str(error)
        if not os.path.isdir(path):  # the stamp of a folder does not cover its contents
            wrong[lfn] = now
        return message
