"""What the jobs of a run have left on the disk of this node: pegasus-bb gc --nodes.

A killed job leaves its folder until the next job of this user starts on the node. The
cache of shared inputs stays on purpose.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass, replace
from pathlib import Path

from pegasus_bb.core.errors import UsageError
from pegasus_bb.model.backends import KINDS
from pegasus_bb.report.run_folder import read_run
from pegasus_bb.run.engine.submitdir import find_submit_dir
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.job_reservation.cache_folder import cache_path
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
    found = [(folder, _OF_A_JOB) for folder in job_folders(disk)]
    cache = Path(cache_path(disk))
    if cache.is_dir():
        found += [(str(entry), _CACHED) for entry in cache.iterdir()]
    return [_judged(*each) for each in sorted(found) if _is_ours(each[0])]


def remove_left(left: LeftOnNode) -> LeftOnNode:
    """Remove what goes, unless a job has it by now."""
    if remove_unlocked(left.path) and not os.path.lexists(left.path):
        return left
    return replace(left, goes=False, why=_IN_USE)


def other_nodes(submit_dir: Path) -> list[str]:
    """The other hosts whose names are in records of the run's jobs."""
    here = _short(socket.gethostname())
    try:
        hosts = {_short(task.host) for task in read_run(submit_dir).tasks if task.host}
    except UsageError:  # it has no record yet
        return []
    return sorted(hosts - {here})


def _disk(submit_dir: Path) -> str:
    place = find_submit_dir(submit_dir)
    bb = BBDir(str(place.bb))
    request = bb.transient() if bb.is_transient else None
    if request is None or KINDS[request.backend].has_reservations:
        raise UsageError(
            f"{submit_dir}: its jobs have no folders on the disks of nodes: it has no "
            "tier that is a disk of each node"
        )
    return disk_of(request.settings, dict(os.environ))


def _judged(path: str, what: str) -> LeftOnNode:
    free = is_unlocked(path)
    return LeftOnNode(path, size_of(path), free, what if free else _IN_USE)


def _is_ours(path: str) -> bool:
    try:
        return os.lstat(path).st_uid == os.geteuid()
    except OSError:  # it has just ended
        return False


def _short(host: str) -> str:
    return host.partition(".")[0]
