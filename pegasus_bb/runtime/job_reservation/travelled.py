"""The inputs and results of a job whose node sees nothing of the submit host.

HTCondor puts them where the job starts, as a part of the scratch of the run, and takes
back the folder of the results:

    run0001/f.a                                    an input
    run0001/.pegasus_bb_landing/<node>/<try>/f.b   a result
    run0001/.pegasus_bb_landing/<node>/<try>.json  the note of the job
"""

from __future__ import annotations

import errno
import os
import stat

from pegasus_bb.core.files import make_folder_of
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.job_reservation.disk import disk_of
from pegasus_bb.runtime.job_reservation.planned import PlannedReservation, landing_here
from pegasus_bb.runtime.job_reservation.space import SharedInputs
from pegasus_bb.runtime.scratch_links import checked_path
from pegasus_bb.runtime.staging.onefile import Copied, digest_file


def make_landing(bb: BBDir, reservation: PlannedReservation) -> None:
    """Make the folder that HTCondor takes back: it holds a job that lacks it."""
    landing = landing_here(bb, reservation.node, reservation.job)
    make_folder_of(landing)


class TravelledInputs(SharedInputs):
    """The inputs that have come with a job. They are its own, so those on the disk of
    the tier move, and need no space there."""

    def __init__(
        self,
        request: Request,
        reservation: PlannedReservation,
        environ: dict[str, str],
    ) -> None:
        """Raises ReservationFailed if the node has no such disk."""
        self._device = os.stat(disk_of(request.settings, environ)).st_dev
        places = (checked_path(request.prefix, lfn) for lfn in reservation.stage_in)
        sizes = (os.lstat(p).st_size for p in places if self._moves(p))
        self.size = sum(sizes)

    def link(self, lfn: str, path: str, here: str) -> bool:
        return self._moves(path) and _is_renamed(path, here)

    def _moves(self, path: str) -> bool:
        """Whether ``path`` is a file on the disk; pegasus-bb's own engine makes links
        to the files of the submit host, which stay."""
        try:
            found = os.lstat(path)
        except FileNotFoundError:  # told where it is brought
            return False
        return stat.S_ISREG(found.st_mode) and found.st_dev == self._device


def renamed_result(made: str, dest: str) -> Copied | None:
    """Rename a result to ``dest``; None if it has to be copied: a folder, a link, a
    file with several names, or one on another mount. Raises OSError, CopyFailed."""
    found = os.lstat(made)
    is_plain = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
    if not (is_plain and _is_renamed(made, dest)):
        return None
    return Copied(found.st_size, digest_file(dest), found)


def _is_renamed(path: str, to: str) -> bool:
    """Rename ``path``; False if ``to`` is on another mount, be it of the same file
    system, or if the task has closed the folder. Raises OSError."""
    try:
        os.rename(path, to)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EACCES, errno.EPERM):
            raise
        return False
    return True
