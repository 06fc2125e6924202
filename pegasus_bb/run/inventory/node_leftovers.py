"""What the jobs of a run have left on the disk of this node: pegasus-bb gc --nodes.

A killed job leaves its folder until the next job of this user starts on the node. The
cache of shared inputs stays on purpose.
"""

from __future__ import annotations

import os
import re
import socket
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pegasus_bb.core.errors import UsageError
from pegasus_bb.model.backends import KINDS
from pegasus_bb.report.run_folder import read_run
from pegasus_bb.run.engine.submitdir import find_submit_dir
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.job_reservation.cache_folder import cache_entries, cache_path
from pegasus_bb.runtime.job_reservation.disk import (
    disk_of,
    is_unlocked,
    job_folders,
    remove_unlocked,
)
from pegasus_bb.runtime.job_reservation.temporary_files import size_of

_OF_A_JOB = "the folder of a killed job"
_CACHED = "a cached input, which no job reads"
_IN_USE = "a job has it"
_OF_A_USER = {"USER", "LOGNAME", "HOME", "UID"}  # the same in all jobs of a user
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*")


@dataclass(frozen=True)
class LeftOnNode:
    path: str
    size: int  # bytes of the disk
    goes: bool  # it would be removed; after ``remove_left``: it was
    why: str


def left_on_this_node(submit_dir: Path) -> list[LeftOnNode]:
    """What this user's jobs have on the disk that the run's tier names, of this and of
    other runs. Raises UsageError, and ReservationFailed if there is no such disk here.
    """
    disk = _disk(submit_dir)
    found = [_judged(each, _OF_A_JOB) for each in job_folders(disk) if _is_ours(each)]
    return sorted([*found, *_cached(disk)], key=lambda left: left.path)


def remove_left(left: LeftOnNode) -> LeftOnNode:
    """Remove what goes, unless a job has it by now."""
    if not remove_unlocked(left.path):
        return replace(left, goes=False, why=_IN_USE)
    if os.path.lexists(left.path):
        return replace(left, goes=False, why="a part of it cannot be removed")
    return left


def other_nodes(submit_dir: Path) -> list[str]:
    """The other hosts whose names are in records of the run's jobs."""
    here = _short(socket.gethostname())
    try:
        hosts = {task.host for task in read_run(submit_dir).tasks}
    except UsageError:  # it has no record yet
        return []
    # A record can be edited, and srun reads some names as files or lists.
    return sorted({_short(host) for host in hosts if _HOST.fullmatch(host)} - {here})


def _disk(submit_dir: Path) -> str:
    bb = BBDir(str(find_submit_dir(submit_dir).bb))
    request = bb.transient() if bb.is_transient else None
    if request is None or KINDS[request.backend].has_reservations:
        raise UsageError(
            f"{submit_dir}: its jobs have no folders on the disks of nodes: it has no "
            "tier that is a disk of each node"
        )
    path = request.settings.get("path", "")
    others = set(re.findall(r"\$\{?(\w+)", path)) - _OF_A_USER
    if others:
        raise UsageError(
            f"{path}, the path of tier {request.tier}, may be another folder in each "
            f"job ({', '.join(sorted(others))}), so what other jobs have left is not "
            "seen; the batch system is to remove such folders"
        )
    return disk_of(request.settings, dict(os.environ))


def _cached(disk: str) -> Iterator[LeftOnNode]:
    try:
        entries = cache_entries(disk)
    except OSError as error:
        yield LeftOnNode(cache_path(disk), 0, False, f"not looked at: {error.strerror}")
        return
    yield from (_judged(entry, _CACHED) for entry in entries if _is_ours(entry))


def _judged(path: str, what: str) -> LeftOnNode:
    is_free = is_unlocked(path)
    return LeftOnNode(path, size_of(path), is_free, what if is_free else _IN_USE)


def _is_ours(path: str) -> bool:
    try:
        found = os.lstat(path)
    except OSError:  # it has just ended
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def _short(host: str) -> str:
    """Without its domain; an address of numbers stays as it is."""
    return host if re.fullmatch(r"[\d.]+", host) else host.partition(".")[0]
