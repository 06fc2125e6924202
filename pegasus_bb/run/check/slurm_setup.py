"""Slurm: its version, its plugin, its users, the space in the pool, its limits."""

from __future__ import annotations

import getpass
import os
import re
from collections.abc import Iterator

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.process import ask
from pegasus_bb.core.units import format_size, round_up
from pegasus_bb.model.backends import DATAWARP
from pegasus_bb.model.finding import Finding, note, ok, wrong
from pegasus_bb.model.modes import RunMode
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.tiers import Tier
from pegasus_bb.runtime.backends.base import PoolSpace
from pegasus_bb.runtime.backends.scontrol import Plugin
from pegasus_bb.runtime.backends.slurm import PERSISTENT, Slurm

_TRIED = ((22, 5), (24, 11))
_VERSION = re.compile(r"slurm(?:-wlm)? (\d+)\.(\d+)\S*")


def of_slurm(
    tier: Tier, mode: RunMode, placement: Placement | None
) -> Iterator[Finding]:
    """``placement`` has its capacity; None if that is not known yet."""
    if os.geteuid() == 0:
        reason = "Slurm makes no burst buffer for root"
        yield wrong("slurm", reason, "plan and run as an ordinary user")
    try:
        plugin = Slurm(tier.settings).plugin()
    except PegasusBBError as error:
        yield wrong("slurm", str(error))
        return
    yield _of_version()
    yield _of_plugin(plugin)
    if not mode.is_only_for_jobs:
        yield _of_persistent(plugin)
    yield from _of_users(plugin)
    pool = plugin.pool(tier.pool)
    if pool is None:
        known = ", ".join(p.name for p in plugin.pools) or "none"
        yield wrong("slurm", f"there is no pool {tier.pool}", f"pool: one of {known}")
        return
    yield of_pool(pool, placement.capacity if placement else 0)


def _of_version() -> Finding:
    version = ask(["scontrol", "--version"], timeout=20.0).out.strip()
    found = _VERSION.fullmatch(version)
    if found is None:
        return note("slurm", f"scontrol --version says {version[:80]!r}")
    if (int(found[1]), int(found[2])) in _TRIED:
        return ok("slurm", version)
    tried = " and ".join(f"{year}.{month:02d}" for year, month in _TRIED)
    return note("slurm", f"{version}; this was tried with {tried}")


def _of_plugin(plugin: Plugin) -> Finding:
    if plugin.name != DATAWARP.name:
        return wrong(
            "slurm",
            f"its burst buffer plugin is {plugin.name}, not datawarp",
            "BurstBufferType=burst_buffer/datawarp in slurm.conf, or another site",
        )
    if "EmulateCray" in plugin.flags:
        return note(
            "slurm",
            "Flags=EmulateCray: buffers are not read back from DataWarp, as in tests",
            "without that flag where there is a DataWarp",
        )
    return ok("slurm", "the plugin burst_buffer/datawarp answers")


def _of_persistent(plugin: Plugin) -> Finding:
    if PERSISTENT in plugin.flags:
        return ok("slurm", "users may make persistent buffers")
    return wrong(
        "slurm",
        f"`scontrol show burst` shows no Flags={PERSISTENT}: only operators may make "
        "persistent buffers",
        f"an administrator writes Flags={PERSISTENT} into burst_buffer.conf and says "
        "`scontrol reconfigure`; or --bb-mode transient, which needs no such flag",
    )


def _of_users(plugin: Plugin) -> Iterator[Finding]:
    """AllowUsers and DenyUsers are names or numbers; none is shown where all may."""
    mine = {getpass.getuser(), str(os.geteuid())}
    allowed, denied = (
        set(plugin.header.get(key, "").split(",")) - {""}
        for key in ("AllowUsers", "DenyUsers")
    )
    if (allowed and not mine & allowed) or mine & denied:
        key = "DenyUsers" if mine & denied else "AllowUsers"
        yield wrong(
            "slurm",
            f"{getpass.getuser()} may use no burst buffer: {key}={plugin.header[key]}",
            "an administrator changes it in burst_buffer.conf",
        )


def of_pool(pool: PoolSpace, capacity: int) -> Finding:
    size = round_up(capacity, pool.granularity)
    what = f"pool {pool.name} has {format_size(pool.total)}"
    if size > pool.total:
        return wrong(
            "slurm",
            f"{what} in all, less than {format_size(size)}: Slurm would leave the "
            "request pending for ever",
            "a lower --bb-capacity, or files on the PFS (bb.tier: pfs)",
        )
    if size > pool.free:
        return note(
            "slurm",
            f"{what}, {format_size(pool.free)} of it free now: the first job would "
            "wait until others give theirs back",
            "patience (--bb-wait), or a lower --bb-capacity",
        )
    return ok("slurm", f"{what}, {format_size(pool.free)} of it free now")
