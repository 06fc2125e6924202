"""Whether a tier would hold the files."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.files import is_dir
from pegasus_bb.core.process import ask
from pegasus_bb.core.units import format_size
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.finding import Finding, note, ok, wrong
from pegasus_bb.model.modes import RunMode
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.pools import Pool
from pegasus_bb.model.tiers import Tier
from pegasus_bb.planner.local_files import free_on, of_directory
from pegasus_bb.run.check.node_disks import of_node_disk
from pegasus_bb.run.check.slurm_lua_setup import of_slurm_lua
from pegasus_bb.run.check.slurm_setup import of_slurm
from pegasus_bb.runtime.backends.backend_table import open_backend

_POOL = re.compile(r"Storage Pool:\s*(\d+)")


def _of_grants(tier: Tier, capacity: int) -> Iterator[Finding]:
    """A note if other reservations leave less than ``capacity`` bytes of the tier."""
    left = free_on(tier)
    if left is None or capacity <= left:
        return
    yield note(
        "tier",
        f"{format_size(left)} of it are not reserved, and {format_size(capacity)} "
        "would be: the run waits until others give theirs back",
        "`pegasus-bb ls` shows who has the rest",
    )


def of_pools(tier: Tier) -> Iterator[Finding]:
    """A finding for each pool. What ``beegfs`` says of a folder holds for new files."""
    for pool in tier.pools:
        path = f"{tier.settings['path'].rstrip('/')}/{pool.path}"
        if not is_dir(path):
            yield note("pools", f"{path} is not there; the first run makes it")
        elif not os.access(path, os.W_OK | os.X_OK):
            yield wrong(
                "pools",
                f"{pool.name}: you may not write to {path}",
                f"its owner says: chmod 1777 {path}",
            )
        elif pool.beegfs_pool:
            yield _of_beegfs(pool, path)
        else:
            yield ok("pools", f"{pool.name}: {path}")


def _of_beegfs(pool: Pool, path: str) -> Finding:
    wanted = f"storage pool {pool.beegfs_pool} of BeeGFS"
    if shutil.which("beegfs") is None:
        return note("pools", f"{path}: {wanted} is not looked at: there is no beegfs")
    done = ask(["beegfs", "entry", "info", "--retro", "--verbose", path], timeout=30)
    found = _POOL.search(done.out)
    if done.status or found is None:
        why = (done.err or done.out).strip().splitlines()[-1:] or ["no storage pool"]
        return note("pools", f"{path}: beegfs does not tell its storage pool: {why[0]}")
    if found[1] == pool.beegfs_pool:
        return ok("pools", f"{pool.name}: {path} is {wanted}")
    return wrong(
        "pools",
        f"new files in {path} go to storage pool {found[1]}, and not to {wanted}",
        f"an administrator says: beegfs entry set --pool={pool.beegfs_pool} {path}",
    )


def of_tier(
    catalogs: Catalogs, tier: Tier, mode: RunMode, placement: Placement | None
) -> Iterator[Finding]:
    """Whether its backend would grant what ``placement`` asks for; None if that is not
    known."""
    if not tier.is_reserved:
        yield from of_node_disk(tier, placement)
        return
    try:
        open_backend(tier.backend, tier.settings)
    except PegasusBBError as error:
        yield wrong("tier", str(error))
        return
    if tier.kind.is_one_folder:
        capacity = placement.capacity if placement else 0
        yield of_directory(catalogs, tier, capacity)
        yield from _of_grants(tier, capacity)
        yield from of_pools(tier)
    elif shutil.which("scontrol") is None:
        what = "there is no scontrol on PATH: nothing here can ask Slurm for space"
        yield wrong("slurm", what, "a submit host with Slurm's commands")
    elif tier.kind.cleans_up:
        yield from of_slurm_lua(tier, placement)
    else:
        yield from of_slurm(tier, mode, placement)
