"""Notes the results of a job, and moves them to the folder that is staged out."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping

from pegasus_bb.core.errors import BUG, PegasusBBError
from pegasus_bb.core.files import (
    UNREADABLE,
    make_folder_of,
    read_json,
    unlink_if_there,
    write_bytes,
    write_json,
)
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.core.paths import cut_name
from pegasus_bb.core.removal import remove
from pegasus_bb.runtime.bbdir import ELSEWHERE, BBDir
from pegasus_bb.runtime.job_reservation.planned import (
    PlannedReservation,
    landing_here,
    landing_of,
)
from pegasus_bb.runtime.job_reservation.space import Space
from pegasus_bb.runtime.programs import program
from pegasus_bb.runtime.scratch_links import checked_path
from pegasus_bb.runtime.staging.failures import check_is_there
from pegasus_bb.runtime.staging.folder_lfns import copy_path
from pegasus_bb.runtime.staging.onefile import Copied, digest_file
from pegasus_bb.runtime.staging.parts import parts_in
from pegasus_bb.runtime.task import missing_message, tell

if TYPE_CHECKING:
    from typing import Any

    from pegasus_bb.model.reservation import Request

NOTES = "stage_out"  # folder of bb/


def note_path(bb: BBDir, node: str) -> str:
    return bb.file(f"{NOTES}/{node}.json")


def _own_note(bb: BBDir, reservation: PlannedReservation) -> str:
    """Where this job leaves its note: beside the results that HTCondor takes back, if
    its node does not see the submit directory."""
    if not bb.has_travelled:
        return note_path(bb, reservation.node)
    return f"{landing_here(bb, reservation.node, reservation.job)}.json"


def take_note_of_traveller(bb: BBDir, request: Request, node: str, job: str) -> None:
    """Put the note that HTCondor has brought back, if there is one, to those of the
    run. Raises OSError."""
    came = f"{landing_of(request.prefix, node, job)}.json"
    if request.is_all_nodes_see and os.path.exists(came):
        with open(came, "rb") as file:
            note = file.read()
        os.makedirs(bb.file(NOTES), exist_ok=True)
        write_bytes(note_path(bb, node), note)
        os.unlink(came)


def list_kept(bb: BBDir, node: str, number: str) -> None:
    """Add the kept space of a job to the ledger, so that `ls` can name its run and
    node."""
    request = bb.transient()
    more = {"job": number, "node": node, "scratch": request.prefix}
    program.list_event("kept", request, bb.submit_dir, label=bb.label(), **more)


def has_failed(bb: BBDir, node: str) -> bool:
    """Whether an earlier try has noted that it failed."""
    try:
        return bool(read_json(note_path(bb, node))["status"])
    except UNREADABLE:
        return False


def forget(bb: BBDir, node: str) -> None:
    """Remove the notes of an earlier try. Raises OSError."""
    elsewhere = bb.file(f"{ELSEWHERE}/{node}.json")
    for path in (elsewhere, note_path(bb, node), bb.file(f"{NOTES}/{node}.err")):
        unlink_if_there(path)


def finish(
    bb: BBDir,
    reservation: PlannedReservation,
    space: Space,
    more: Mapping[str, int],
    *,
    status: int,
    environ: dict[str, str],
    scratch: str,
) -> int:
    """Move and note all results, with ``more`` facts; returns the exit status. Files
    that other jobs read are copied to ``scratch``.

    The status is not 0 if the task failed, or if a result is missing or cannot be
    staged out. It is noted, because a batch system may report a failed job as
    successful.
    """
    files: dict[str, Any] = {}
    if status == 0:
        status = _check_made(reservation, space)
    try:
        if status == 0:
            if not (space.by_system or bb.has_travelled):
                check_is_there(scratch, "when the run began")
            _share(reservation, space, scratch)
            remove(space.results)  # of this try before it was killed and restarted
            lfns = _links_first(reservation, space)
            files = {lfn: _put(bb, space, lfn) for lfn in lfns}
    except PegasusBBError as error:
        status = _failed(str(error))
    except OSError as error:
        status = _failed(f"{error.filename or reservation.node}: {error.strerror}")
    facts = {"files": files, "source": space.results, "since": space.since, **more}
    if not space.by_system:
        facts["slurm"] = ""  # Slurm keeps nothing that launch copies back
    return _note(bb, reservation, environ, status, facts) or status


def note_failure(
    bb: BBDir, reservation: PlannedReservation, environ: dict[str, str]
) -> None:
    """Note that the task was not started, or that launch itself failed."""
    _note(bb, reservation, environ, BUG, {"files": {}, "source": ""})


def _note(
    bb: BBDir,
    reservation: PlannedReservation,
    environ: dict[str, str],
    status: int,
    facts: dict[str, Any],
) -> int:
    note = {
        "version": 1,
        "node": reservation.node,
        "job": reservation.job,
        "status": status,
        "slurm": environ.get("SLURM_JOB_ID", ""),
        **facts,
        "time": time.time(),
    }
    try:
        path = _own_note(bb, reservation)
        make_folder_of(path)
        write_json(path, note)
    except OSError as error:
        return _failed(f"{error.filename or reservation.node}: {error.strerror}")
    return 0


def _check_made(reservation: PlannedReservation, space: Space) -> int:
    """What stays may be gone: a later task of the cluster may rename its inputs."""
    made = (*reservation.stage_out, *reservation.share)
    lost = [name for name in made if not os.path.lexists(space.path(name))]
    return _failed(missing_message(lost)) if lost else 0


def _share(reservation: PlannedReservation, space: Space, scratch: str) -> None:
    """Copy files that other jobs read to ``scratch``, replacing those of older tries.

    A copy gets its name when it is complete and durable. Raises OSError, CopyFailed.
    """
    left: dict[str, dict[bytes, list[str]]] = {}
    for lfn in reservation.share:
        dest = checked_path(scratch, lfn)
        folder = os.path.dirname(dest)
        if folder not in left:
            os.makedirs(folder, exist_ok=True)
            left[folder] = parts_in(folder)
        for part in left[folder].pop(cut_name(dest), []):  # of a killed try
            remove(part)
        made = space.path(lfn)
        copy_path(made, dest, digest=False, replace=True, vanishing=space.vanishing)


def _links_first(reservation: PlannedReservation, space: Space) -> list[str]:
    """The results, links first: each may lead to another result, which is moved."""
    return sorted(reservation.stage_out, key=lambda lfn: not is_shared(space.path(lfn)))


def is_shared(path: str) -> bool:
    """Whether it leads to another result, or may: a folder can have links to them. On
    btrfs a folder has one name, however many folders are in it."""
    found = os.lstat(path)
    is_one = stat.S_ISLNK(found.st_mode) or stat.S_ISDIR(found.st_mode)
    return is_one or found.st_nlink > 1


def _put(bb: BBDir, space: Space, lfn: str) -> dict[str, Any]:
    made = space.path(lfn)
    dest = os.path.join(space.results, lfn)
    make_folder_of(dest)
    put = None
    if space.by_system:
        put = _move(made, dest, lfn)
    elif bb.has_travelled:
        from pegasus_bb.runtime.job_reservation.travelled import renamed_result

        put = renamed_result(made, dest)
    if put is None:
        put = copy_path(made, dest, replace=True, vanishing=space.vanishing)
    return {"size": put.size, "digest": put.digest}


def _move(made: str, dest: str, lfn: str) -> Copied:
    """Move a result within the reservation; copy links, since DataWarp loses both
    kinds."""
    if os.path.isdir(made):
        raise PegasusBBError(
            f"{lfn}: is a folder, and the batch system stages the inputs of later jobs "
            "file by file; `bb.tier: pfs` for it, or one archive in its place"
        )
    if is_shared(made):
        return copy_path(made, dest)
    status = os.lstat(made)
    digest = digest_file(made)
    os.rename(made, dest)
    return Copied(status.st_size, digest, status)


def _failed(message: str) -> int:
    tell(message)
    return 1
