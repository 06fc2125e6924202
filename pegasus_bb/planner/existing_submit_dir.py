"""A submit directory that exists already: it is kept, or moved aside by --force."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from pegasus_bb.core.errors import UsageError, advice_on
from pegasus_bb.core.files import ENGINE_LOCK, lock_holder
from pegasus_bb.model.reservation import Request, State
from pegasus_bb.runtime.bbdir import BBDir


def check_existing(folder: Path, *, force: bool) -> None:
    """Raises UsageError if ``folder`` exists and may not be moved."""
    if not os.path.lexists(folder) or (folder.is_dir() and not any(folder.iterdir())):
        return
    if _is_unfinished_planning(folder):
        raise UsageError(
            f"{folder} is being planned by another command, or was left by one that "
            f"was killed: nothing ran there. If none is at work, remove it (rm -r "
            f"{folder}) and plan again"
        )
    if not force:
        raise UsageError(
            f"{folder} is already there; --force moves it aside, and another "
            "--relative-submit-dir leaves it alone"
        )
    if not (folder / "braindump.yml").is_file():
        raise UsageError(f"{folder} is no submit directory, so it is not moved aside")
    holder = lock_holder(str(folder / ENGINE_LOCK))
    if holder:
        raise UsageError(f"the run in {folder} is going on: {holder}; it is not moved")
    _check_no_run(folder)


def not_written(folder: Path, error: OSError) -> UsageError:
    """What to raise where the system did not let us write ``folder``."""
    where = f"{error.filename}: " if error.filename else ""
    return UsageError(
        f"the submit directory {folder} cannot be written: {where}{error.strerror}; "
        f"{advice_on(error, 'mend that')}, or name another --dir. Nothing of it was "
        "left behind"
    )


def _is_unfinished_planning(folder: Path) -> bool:
    """Whether a planning of ours made it, and no run can have started in it."""
    is_planning = (folder / "bb").is_dir() and not (
        folder / "bb/reservation.json"
    ).exists()
    return (
        is_planning
        and not (folder / "braindump.yml").exists()
        and next(folder.glob("*.dag"), None) is None
    )


def _check_no_run(folder: Path) -> None:
    for lock in folder.glob("*.dag.lock"):  # DAGMan removes it when it ends
        raise UsageError(
            f"DAGMan works in {folder}, or was killed there: {lock}; it is not moved. "
            f"`pegasus-bb status {folder}` tells, condor_rm stops it"
        )
    from pegasus_bb.runtime.release_steps import release_command  # of an old run only

    bb = BBDir(str(folder / "bb"))
    noted = bb.reservation()
    if noted is None and bb.has_request:
        _check_reservation_gone(folder, bb.request())
    if noted is not None and noted.released_at is None and not noted.failure:
        raise UsageError(
            f"the run in {folder} still holds reservation {noted.name}, and its "
            f"paths would break. Finish it: pegasus-bb run {folder} (by its old plan; "
            "a catalog that was mended since needs a new one). Or drop its data, and "
            f"plan again: {release_command(noted.name, loses_nothing=False)}"
        )


def _check_reservation_gone(folder: Path, request: Request) -> None:
    """There is no note: nothing was requested, or the note is lost."""
    from pegasus_bb.runtime.backends.backend_table import open_backend

    state = open_backend(request.backend, request.settings).status(request).state
    if state not in (State.ABSENT, State.UNKNOWN, State.GONE, State.FAILED):
        raise UsageError(
            f"the run in {folder} has lost its notes of reservation {request.name}, "
            f"which is {state.value}; give it back with `pegasus-bb release "
            f"{request.name} --discard` first"
        )


def move_existing(folder: Path, *, force: bool) -> None:
    """Move a run in ``folder`` aside. Raises as ``check_existing`` does."""
    check_existing(folder, force=force)
    if folder.exists() and any(folder.iterdir()):
        move_aside(folder)


def move_aside(folder: Path) -> Path:
    """Rename ``folder`` to the first free of <name>.001, <name>.002, ...

    Raises UsageError as ``check_existing`` does, because a run may have begun since. No
    run can begin meanwhile: this holds the engine's lock, and an engine that gets the
    lock checks that the lock file is still in its place.
    """
    lock = os.open(folder / ENGINE_LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _check_no_run(folder)
        number = 1
        while (target := folder.with_name(f"{folder.name}.{number:03d}")).exists():
            number += 1
        return folder.rename(target)
    except BlockingIOError as error:
        raise UsageError(
            f"the run in {folder} is going on: it began while this was planned; it is "
            "not moved"
        ) from error
    finally:
        os.close(lock)
