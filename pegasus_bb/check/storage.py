"""Where files would live: the tier, the scratch, the submit directory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pegasus_bb.check.finding import Finding, note, ok, wrong
from pegasus_bb.check.pools import of_pools
from pegasus_bb.check.slurm import of_slurm
from pegasus_bb.check.slurm_lua import of_slurm_lua
from pegasus_bb.errors import PegasusBBError
from pegasus_bb.files import is_dir, is_there
from pegasus_bb.model.catalogs import Site
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.reservation import SLURM_LUA
from pegasus_bb.model.tiers import Tier
from pegasus_bb.reservation.registry import open_backend
from pegasus_bb.units import format_size


def of_tier(tier: Tier, mode: str, placement: Placement | None) -> Iterator[Finding]:
    """Whether its backend would grant what ``placement`` asks for; None if that is not
    known yet."""
    if not tier.is_reserved:
        path = tier.settings["path"]
        what = f"{path} is looked at on each node, when a job starts there"
        if "$" in path or is_dir(path):
            yield note("tier", what)
        else:
            mend = f"{path} on every machine where jobs start, this one if it is one"
            yield note("tier", f"{what}; on this machine it is not", mend)
        return
    try:
        open_backend(tier.backend, tier.settings)
    except PegasusBBError as error:
        yield wrong("tier", str(error))
        return
    if tier.backend == SLURM_LUA:
        yield from of_slurm_lua(tier, placement)
    elif tier.backend == "datawarp":
        yield from of_slurm(tier, mode, placement)
    else:
        yield _of_directory(tier, placement.capacity if placement else 0)
        yield from of_pools(tier)


def _of_directory(tier: Tier, capacity: int) -> Finding:
    path = Path(tier.settings.get("path", ""))
    if file := _file_at(path):
        return wrong("tier", f"{file} is no folder", "a folder, as the tier's path")
    there = _nearest(path)
    if not os.access(there, os.W_OK | os.X_OK):
        what = f"tier {tier.name}: {path} cannot be made: no folder can be made in "
        return wrong("tier", f"{what}{there}", "a path of your own, or its mode")
    found = os.statvfs(there)
    free = found.f_bavail * found.f_frsize
    if capacity > free:
        return wrong(
            "tier",
            f"{there} has {format_size(free)} free, less than {format_size(capacity)}",
            "a path with more space, or a lower --bb-capacity",
        )
    return ok("tier", f"{path}: {format_size(free)} free")


def of_scratch(site: Site, mode: str) -> Iterator[Finding]:
    """This machine looks there for the results of jobs with job reservations."""
    path = Path(site.scratch.path if site.scratch else "")
    there = _nearest(path)
    if file := _file_at(path):
        yield wrong("scratch", f"{file} is no folder", "another sharedScratch")
    elif there == path:
        yield ok("scratch", f"{path} is seen from here")
    elif mode not in ("transient", "hybrid"):
        return
    elif there == Path("/"):
        yield wrong(
            "scratch",
            f"{path} is not seen from this machine, where every job's results have to "
            "be seen under that path before the next job starts",
            "a submit host that mounts it, or --bb-mode persistent",
        )
    else:
        yield note(
            "scratch", f"{path} is not there yet", f"is {there} the right place?"
        )


def of_submit_dir(folder: Path) -> Finding:
    there = _nearest(folder.parent)
    if os.access(there, os.W_OK | os.X_OK):
        return ok("submit", f"{folder} can be made")
    what = f"{folder} cannot be made: {there} is not yours to write"
    return wrong("submit", what, "another --dir")


def of_output(folder: str | Path) -> Iterator[Finding]:
    """Where results go, as far as that is on this machine."""
    if file := _file_at(Path(folder)):
        yield wrong("output", f"{file} is no folder", "another --output-dir")


def _file_at(path: Path) -> Path | None:
    """``path`` or what is above it, if that is there and no folder."""
    found = next((p for p in (path, *path.parents) if is_there(p)), Path("/"))
    return None if is_dir(found) else found


def _nearest(path: Path) -> Path:
    """``path``, or the last folder above it that is there."""
    return next((p for p in (path, *path.parents) if is_dir(p)), Path("/"))
