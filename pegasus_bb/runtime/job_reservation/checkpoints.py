"""Checkpoints on a job's own reservation: the next try finds them on the PFS.

A copy is made beside the landing folder of the try, compared, and renamed to its name
in the run's scratch. So an older checkpoint is there until a newer one is whole.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from pegasus_bb.core.files import sync_directory
from pegasus_bb.core.light_typing import NamedTuple
from pegasus_bb.core.paths import cut_name
from pegasus_bb.core.removal import remove
from pegasus_bb.runtime.job_reservation.planned import PlannedReservation, landing_of
from pegasus_bb.runtime.scratch_links import checked_path
from pegasus_bb.runtime.staging.failures import CopyFailed
from pegasus_bb.runtime.staging.folder_lfns import copy_path, digest_path

_OLDER = ".pegasus_bb_older"  # a folder cannot be replaced by one rename

State = tuple[int, int]  # bytes, and the newest change in ns


class Checkpoint(NamedTuple):
    lfn: str
    here: str  # on the reservation
    home: str  # on the PFS


def checkpoints_of(
    reservation: PlannedReservation, scratch: str, run: str
) -> list[Checkpoint]:
    return [
        Checkpoint(lfn, checked_path(run, lfn), checked_path(scratch, lfn))
        for lfn in reservation.checkpoints
    ]


def folder_of_copies(reservation: PlannedReservation, scratch: str) -> str:
    """Where copies are made; the next try removes what a killed one has left."""
    return landing_of(scratch, reservation.node, reservation.job) + ".saving"


def bring(reservation: PlannedReservation, scratch: str, run: str) -> None:
    """Bring the checkpoints that there are. Raises CopyFailed."""
    for _, here, home in checkpoints_of(reservation, scratch, run):
        source = next(filter(os.path.exists, (home, _older(home))), "")
        if source:
            copy_path(source, here, digest=False)
            _keep_time(here, state_of(source))


def save(checkpoint: Checkpoint, copies: str, *, trusts_time: bool = False) -> int:
    """Save a checkpoint that was written: the bytes; -1 if the PFS has it already.

    ``trusts_time``: size and time tell whether it has. Otherwise the bytes are
    compared: a file that is written through a mapping may keep its time. Raises
    CopyFailed or OSError; an older one on the PFS is then as it was.
    """
    try:
        return _save(checkpoint, copies, trusts_time=trusts_time)
    except RecursionError as error:
        why = "its folders are too deep to be copied"
        raise CopyFailed(f"{checkpoint.here}: {why}") from error


def _save(checkpoint: Checkpoint, copies: str, *, trusts_time: bool) -> int:
    _, here, home = checkpoint
    state = state_of(here)
    is_file = os.path.isfile(home) and not os.path.islink(home)
    is_alike = is_file and state_of(home) == state
    if is_alike and (trusts_time or _has_bytes(home, digest_path(here))):
        return -1
    os.makedirs(copies, exist_ok=True)
    copy = os.path.join(copies, str(os.getpid()))
    remove(copy)  # of another kind, perhaps
    copied = copy_path(here, copy, replace=True, vanishing=(os.path.dirname(here),))
    if not _has_bytes(copy, copied.digest):
        raise CopyFailed(f"{home}: the copy has other bytes than {here}")
    _keep_time(copy, state)
    _give_name(copy, home)
    return copied.size


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _older(home: str) -> str:
    """The name of the older one while the newer one gets its own."""
    name = os.fsdecode(cut_name(home)) + _OLDER
    return os.path.join(os.path.dirname(home), name)


def _has_bytes(path: str, digest: str) -> bool:
    return digest_path(path, digest) == digest


def _give_name(copy: str, home: str) -> None:
    folder = os.path.dirname(home)
    os.makedirs(folder, exist_ok=True)
    older = _older(home)
    if os.path.lexists(home) and (_is_folder(home) or _is_folder(copy)):
        remove(older)
        os.rename(home, older)
    os.replace(copy, home)
    sync_directory(folder)
    remove(older)


def state_of(path: str) -> State:
    """Bytes and newest change of a file, or of all files in a folder. Raises
    OSError."""
    found = os.stat(path)
    if not os.path.isdir(path):
        return found.st_size, found.st_mtime_ns
    size, newest = 0, found.st_mtime_ns
    for each in _files_in(path):
        with contextlib.suppress(FileNotFoundError):  # the task removes it
            found = each.stat(follow_symlinks=False)
            size += found.st_size
            newest = max(newest, found.st_mtime_ns)
    return size, newest


def _files_in(path: str) -> Iterator[os.DirEntry[str]]:
    """All that is no folder; no depth is too deep."""
    folders = [path]
    while folders:
        with contextlib.suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    yield entry


def _keep_time(copy: str, state: State) -> None:
    """Let a file that was not written since look the same in both places."""
    if not os.path.isdir(copy):
        os.utime(copy, ns=(state[1], state[1]))
