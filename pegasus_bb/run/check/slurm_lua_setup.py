"""Slurm with burst_buffer/lua: its version, our hooks, the service, the pool."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from pegasus_bb.core.errors import PegasusBBError, SchedulerUnreachable, UsageError
from pegasus_bb.core.process import ask
from pegasus_bb.model.finding import Finding, note, ok, wrong
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.tiers import Tier
from pegasus_bb.run.check.slurm_setup import of_pool
from pegasus_bb.run.check.stager_service import of_answer, of_sockets, site_here
from pegasus_bb.runtime.backends.base import PoolSpace
from pegasus_bb.runtime.backends.slurm import Slurm
from pegasus_bb.runtime.backends.slurm_lua import SlurmLua
from pegasus_bb.stager.slurm.install_hooks import (
    HOOKS,
    dry_run_text,
    is_version,
    missing_functions,
    why_not,
    why_too_old,
)

_CONF = re.compile(r"^SLURM_CONF\s*=\s*(\S+)", re.MULTILINE)
_USER = re.compile(r"^SlurmUser\s*=\s*\S+?\((\d+)\)", re.MULTILINE)


def of_slurm_lua(tier: Tier, placement: Placement | None) -> Iterator[Finding]:
    """``placement`` has its capacity; None if that is not known yet."""
    yield from _of_version()
    yield from _of_plugin(tier)
    yield from _of_hooks()
    site = site_here()
    if "service" not in tier.settings:  # else that is looked at by itself
        sockets = Path(site.sockets)
        yield from of_sockets(sockets, is_site=True)
        if not sockets.exists():
            here = f"there is no {sockets} here"
            yield note("service", f"{here}: right if slurmctld has another host")
    lua = SlurmLua(tier.settings)
    try:
        pools = lua.pools()
        trouble = lua.trouble()
    except SchedulerUnreachable as error:
        mend = "an administrator starts the service: docs/slurm-lua.md"
        yield wrong("slurm", f"the staging service does not answer: {error}", mend)
        return
    except PegasusBBError as error:
        yield wrong("slurm", str(error))
        return
    yield of_answer("the staging service behind Slurm", trouble)
    yield _of_pool(pools, tier, placement)


def _of_version() -> Iterator[Finding]:
    said = ask(["scontrol", "--version"], timeout=20.0).out.strip()
    why = why_too_old(said)
    if why:
        yield wrong("slurm", why, "Slurm 24.05 or later")
    elif not is_version(said):
        yield note("slurm", f"scontrol --version says {said[:80]!r}")
    else:
        yield ok("slurm", said)


def _of_plugin(tier: Tier) -> Iterator[Finding]:
    try:
        plugin = Slurm({}).plugin()
    except PegasusBBError as error:
        yield wrong("slurm", str(error))
        return
    if plugin.name != "lua":
        yield wrong(
            "slurm",
            f"its burst buffer plugin is {plugin.name}, not lua",
            "BurstBufferType=burst_buffer/lua in slurm.conf, or another backend",
        )
    elif "TeardownFailure" not in plugin.flags:
        yield wrong(
            "slurm",
            "`scontrol show burst` shows no Flags=TeardownFailure: a job whose staging "
            "fails keeps its place for ever",
            "an administrator writes Flags=TeardownFailure into burst_buffer.conf",
        )
    else:
        yield ok("slurm", "the plugin burst_buffer/lua answers")


def _of_hooks() -> Iterator[Finding]:
    """Where the file can be read from here; slurmctld's host may be another."""
    config = ask(["scontrol", "show", "config"], timeout=20.0).out
    found = _CONF.search(config)
    user = _USER.search(config)
    path = Path(found[1]).parent / HOOKS if found else None
    if path is None or not path.is_file():
        return
    mode = path.stat()
    if not mode.st_mode & 0o004 and user and mode.st_uid != int(user[1]):
        what = f"{path} has mode {mode.st_mode & 0o777:04o}: SlurmUser cannot read it"
        yield wrong("slurm", what, f"an administrator says: chmod 644 {path}")
        return
    if not os.access(path, os.R_OK):
        return
    text = path.read_text(errors="replace")
    missing = missing_functions(text)
    if not missing:
        yield from _of_calls(path, text)
    else:
        yield wrong(
            "slurm",
            f"{path} has no {', '.join(missing)}: slurmctld ends at its next start",
            f"pegasus-bb site install --slurm-conf {path.parent}",
        )


def _of_calls(path: Path, text: str) -> Iterator[Finding]:
    """What Lua says against the hooks, each called as `site install` does."""
    try:
        why = why_not(dry_run_text(text))
    except UsageError:
        what = f"this host has no Lua, so {path} is not tried"
        yield note("slurm", what, "install lua5.1, or run this where slurmctld runs")
        return
    if why:
        mend = f"pegasus-bb site install --slurm-conf {path.parent}"
        yield wrong("slurm", f"Lua does not take {path}: {why}", mend)


def _of_pool(
    pools: list[PoolSpace], tier: Tier, placement: Placement | None
) -> Finding:
    pool = next((pool for pool in pools if pool.name == tier.pool), None)
    if pool is None:
        known = ", ".join(pool.name for pool in pools)
        return wrong("slurm", f"there is no pool {tier.pool}", f"pool: one of {known}")
    return of_pool(pool, placement.capacity if placement else 0)
