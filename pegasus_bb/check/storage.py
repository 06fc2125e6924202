"""The tier: whether its backend would grant what is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pegasus_bb.check.finding import Finding, note, ok, wrong
from pegasus_bb.errors import PegasusBBError
from pegasus_bb.model.tiers import Tier
from pegasus_bb.reservation.base import Pool
from pegasus_bb.reservation.registry import open_backend
from pegasus_bb.reservation.scontrol import Plugin
from pegasus_bb.reservation.slurm import PERSISTENT, Slurm
from pegasus_bb.units import format_size, round_up

_ROOT = "Slurm makes no burst buffer for root"


def of_tier(tier: Tier, capacity: int) -> Iterator[Finding]:
    """``capacity``: bytes, 0 where nobody knows them yet."""
    try:
        open_backend(tier.backend, tier.settings)
    except PegasusBBError as error:
        yield wrong("tier", str(error))
        return
    if tier.backend == "datawarp":
        yield from _of_datawarp(tier, capacity)
    else:
        yield from _of_directory(tier, capacity)


def _of_datawarp(tier: Tier, capacity: int) -> Iterator[Finding]:
    if os.geteuid() == 0:
        yield wrong("slurm", _ROOT, "plan and run as an ordinary user")
    try:
        plugin = Slurm(tier.settings).plugin()
    except PegasusBBError as error:
        yield wrong("slurm", str(error))
        return
    yield from _of_plugin(plugin)
    pool = plugin.pool(tier.pool)
    if pool is None:
        known = ", ".join(p.name for p in plugin.pools) or "none"
        yield wrong("slurm", f"there is no pool {tier.pool}", f"pool: one of {known}")
        return
    yield from _of_pool(tier, pool, capacity)


def _of_plugin(plugin: Plugin) -> Iterator[Finding]:
    if plugin.name == "datawarp":
        yield ok("slurm", "the plugin burst_buffer/datawarp answers")
    else:
        yield wrong(
            "slurm",
            f"its burst buffer plugin is {plugin.name}, not datawarp",
            "BurstBufferType=burst_buffer/datawarp in slurm.conf, or another site",
        )
    if PERSISTENT in plugin.flags:
        yield ok("slurm", "users may make persistent buffers")
    else:
        yield wrong(
            "slurm",
            f"`scontrol show burst` shows no Flags={PERSISTENT}: only operators may "
            "make persistent buffers",
            f"an administrator writes Flags={PERSISTENT} into burst_buffer.conf and "
            "says `scontrol reconfigure`",
        )


def _of_pool(tier: Tier, pool: Pool, capacity: int) -> Iterator[Finding]:
    size = round_up(capacity, pool.granularity)
    what = f"pool {pool.name} has {format_size(pool.total)}"
    if size > pool.total:
        yield wrong(
            "slurm",
            f"{what} in all, less than {format_size(size)}: Slurm would leave the "
            "request pending for ever",
            "a lower --bb-capacity, or files on the PFS (bb.tier: pfs)",
        )
    elif size > pool.free:
        yield note(
            "slurm",
            f"{what}, {format_size(pool.free)} of it free now: the first job would "
            "wait until others give theirs back",
            "patience (--bb-wait), or a lower --bb-capacity",
        )
    else:
        yield ok("slurm", f"{what}, {format_size(pool.free)} of it free now")
    if tier.granularity % pool.granularity:
        yield note(
            "tier",
            f"tier {tier.name} says granularity {format_size(tier.granularity)}, the "
            f"pool hands out {format_size(pool.granularity)} at a time",
            f"granularity: {format_size(pool.granularity)}, so that plan says what "
            "will be granted",
        )


def _of_directory(tier: Tier, capacity: int) -> Iterator[Finding]:
    path = Path(tier.settings.get("path", ""))
    there = next((p for p in (path, *path.parents) if p.is_dir()), Path("/"))
    if not os.access(there, os.W_OK | os.X_OK):
        yield wrong(
            "tier", f"nothing can be made in {there}", "a path of your own, or its mode"
        )
        return
    room = os.statvfs(there)
    free = room.f_bavail * room.f_frsize
    if capacity > free:
        yield wrong(
            "tier",
            f"{there} has {format_size(free)} free, less than {format_size(capacity)}",
            "a path with more room, or a lower --bb-capacity",
        )
    else:
        yield ok("tier", f"{path}: {format_size(free)} free")
