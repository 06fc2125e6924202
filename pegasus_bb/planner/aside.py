"""A submit directory that is already there: kept, or moved aside by --force."""

from __future__ import annotations

from pathlib import Path

from pegasus_bb.errors import UsageError
from pegasus_bb.files import ENGINE_LOCK, lock_holder
from pegasus_bb.runtime.bbdir import BBDir


def check_aside(folder: Path, force: bool) -> None:
    """Raises UsageError where ``folder`` stands and may not be moved."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
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
    for lock in folder.glob("*.dag.lock"):  # it goes with DAGMan's good or bad end
        raise UsageError(
            f"DAGMan works in {folder}, or was killed there: {lock}; it is not moved. "
            f"`pegasus-bb status {folder}` tells, condor_rm stops it"
        )
    held = BBDir(str(folder / "bb")).reservation()
    if held is not None and held.released_at is None and not held.failure:
        raise UsageError(
            f"the run in {folder} still holds reservation {held.name}, and its paths "
            f"would break; finish it with `pegasus-bb run {folder}`, or drop its data "
            f"with `pegasus-bb release {held.name} --discard`"
        )


def move_aside(folder: Path) -> Path:
    """Rename ``folder`` to the first free of <name>.001, <name>.002, ..."""
    number = 1
    while (target := folder.with_name(f"{folder.name}.{number:03d}")).exists():
        number += 1
    return folder.rename(target)
