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
from pegasus_bb.runtime.bbdir import NODES, BBDir
from pegasus_bb.runtime.job_reservation.cache_folder import cache_path, own_entries
from pegasus_bb.runtime.job_reservation.disk import (
    disk_of,
    is_unlocked,
    job_folders,
    remove_unlocked,
)
from pegasus_bb.runtime.job_reservation.temporary_files import size_of
from pegasus_bb.runtime.private_folder import home_on_disk

_OF_A_JOB = "the folder of a killed job"
_CACHED = "a cached input, which no job reads"
_IN_USE = "a job has it"
_CLOSED = "closed to this user: it cannot be looked into"
_OF_A_USER = {"USER", "LOGNAME", "HOME", "UID"}  # the same in all jobs of a user
_ANY = re.compile(".*")
_PRIVATE = re.compile(r"[0-9a-f]{12}\..+\.[0-9]+")  # as private_folder.py makes them
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*")


@dataclass(frozen=True)
class LeftOnNode:
    path: str
    size: int  # bytes of the disk
    goes: bool  # it would be removed; after ``remove_left``: it was
    why: str


def left_on_this_node(submit_dir: Path) -> list[LeftOnNode]:
    """What this user's jobs have on the disk of this node, where the run's jobs have
    their folders; of this and of other runs. Raises UsageError, and ReservationFailed
    if there is no such disk here.
    """
    bb = find_submit_dir(submit_dir).bb_dir
    home, disk = _private_home(bb), _disk(bb)
    if home is None and disk is None:
        raise UsageError(
            f"{submit_dir}: its jobs have no folders on the disks of nodes: it has no "
            "tier that is a disk of each node, and private folders are elsewhere"
        )
    found: list[LeftOnNode] = []
    if home is not None:
        found += _entries(home, _PRIVATE, _OF_A_JOB)
    if disk is not None:
        ours = (each for each in job_folders(disk) if _is_ours(each))
        found += [_judged(each, _OF_A_JOB) for each in ours]
        found += _entries(cache_path(disk), _ANY, _CACHED)
    return sorted(found, key=lambda left: left.path)


def remove_left(left: LeftOnNode) -> LeftOnNode:
    """Remove what goes, unless a job has it by now."""
    if not remove_unlocked(left.path):
        return replace(left, goes=False, why=_why_it_stays(left.path))
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


def _private_home(bb: BBDir) -> str | None:
    """The folder of private folders on the disk of a node; None if they are elsewhere.
    Raises UsageError."""
    files = Path(bb.file(NODES)).glob("*.json")
    private = (bb.node(file.stem).private for file in files)
    needs = next((each for each in private if each.get("disk") is not None), None)
    if needs is None:
        return None
    try:
        return home_on_disk(str(needs["disk"]), os.environ)
    except ValueError as error:
        raise UsageError(f"{needs['disk']}, for private folders: {error}") from None


def _disk(bb: BBDir) -> str | None:
    """The disk of this node that is the tier of the run; None if its tier is another.
    Raises UsageError, and ReservationFailed."""
    request = bb.transient() if bb.is_transient else None
    if request is None or KINDS[request.backend].has_reservations:
        return None
    path = request.settings.get("path", "")
    others = set(re.findall(r"\$\{?(\w+)", path)) - _OF_A_USER
    if others:
        raise UsageError(
            f"{path}, the path of tier {request.tier}, may be another folder in each "
            f"job ({', '.join(sorted(others))}), so what other jobs have left is not "
            "seen; the batch system is to remove such folders"
        )
    return disk_of(request.settings, dict(os.environ))


def _entries(folder: str, name: re.Pattern[str], what: str) -> Iterator[LeftOnNode]:
    """Yield what is in ``folder``, if that is this user's alone."""
    try:
        paths = own_entries(folder)
    except OSError as error:
        yield LeftOnNode(folder, 0, False, f"not looked at: {error.strerror}")
        return
    known = (path for path in paths if name.fullmatch(Path(path).name))
    yield from (_judged(path, what) for path in known if _is_ours(path))


def _judged(path: str, what: str) -> LeftOnNode:
    is_free = is_unlocked(path)
    why = what if is_free else _why_it_stays(path)
    return LeftOnNode(path, size_of(path), is_free, why)


def _why_it_stays(path: str) -> str:
    return _IN_USE if os.access(path, os.R_OK | os.X_OK) else _CLOSED


def _is_ours(path: str) -> bool:
    try:
        found = os.lstat(path)
    except OSError:  # it has just ended
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def _short(host: str) -> str:
    """Without its domain; an address of numbers stays as it is."""
    return host if re.fullmatch(r"[\d.]+", host) else host.partition(".")[0]
