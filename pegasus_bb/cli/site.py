"""pegasus-bb site: what an administrator does to a site, and looks at."""

from __future__ import annotations

import pwd
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import click
import orjson

from pegasus_bb.cli.output import echo_lines
from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.text import columns, one_line
from pegasus_bb.core.units import format_duration, format_size
from pegasus_bb.model.reservation import State
from pegasus_bb.runtime.backends.base import PoolSpace
from pegasus_bb.runtime.backends.scontrol import Plugin, SpaceJob
from pegasus_bb.runtime.backends.slurm import Slurm
from pegasus_bb.runtime.backends.slurm_lua import SlurmLua
from pegasus_bb.runtime.backends.squeue import advice
from pegasus_bb.stager.slurm.install_hooks import hooks_done
from pegasus_bb.stager.slurm.slurm_config import SPOOL


@click.group("site")
def command() -> None:
    """For administrators; docs/slurm-lua.md has all steps."""


@command.command("install", short_help="Put our burst_buffer.lua beside slurm.conf.")
@click.option(
    "--slurm-conf",
    "folder",
    required=True,
    type=click.Path(exists=True, file_okay=False),
    help="The folder of slurm.conf.",
)
@click.option(
    "--spool",
    default=SPOOL,
    show_default=True,
    help="The spool folder of the staging service.",
)
@click.option("--undo", is_flag=True, help="Take burst_buffer.lua out again.")
def install_hooks(folder: str, spool: str, *, undo: bool) -> None:
    """Put our burst_buffer.lua beside slurm.conf, after a dry call of each function;
    print the lines for slurm.conf and burst_buffer.conf. Changes neither.
    """
    click.echo(hooks_done(folder, spool, undo=undo), nl=False)


@command.command("status", short_help="Show what a Slurm site's burst buffer holds.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def status(*, as_json: bool) -> None:
    """Show pools, persistent buffers, spaces of jobs, what each user has, and jobs that
    wait for burst buffer; of burst_buffer/lua also whether its service works.

    Asks the Slurm of this host, once; changes nothing. Where Slurm keeps data private,
    root and operators see all.
    """
    found = site_status()
    if as_json:
        document = {**asdict(found), "pools": [pool._asdict() for pool in found.pools]}
        click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())
    else:
        echo_lines(_lines(found))


def _lines(found: SiteStatus) -> Iterator[str]:
    yield f"Slurm with burst_buffer/{found.plugin}"
    if found.plugin == "lua":
        yield f"service: {found.service or 'it answers'}"
    pools = [pool for pool in found.pools if pool.total]
    yield from _table(
        ("pool", "total", "free", "granule"),
        [(p.name, *map(format_size, (p.total, p.free, p.granularity))) for p in pools],
    )
    users = sorted(found.users.items(), key=lambda user: -user[1])
    yield from _table(("user", "has"), [(u, format_size(n)) for u, n in users])
    head = ("user", "pool", "size", "state", "age")
    yield from _table(("buffer", *head), [_row(use) for use in found.buffers])
    yield from _table(("space of job", *head), [_row(use) for use in found.jobs])
    waiting = [(w.job, w.user, w.name, one_line(w.reason)) for w in found.waiting]
    yield from _table(("waiting job", "user", "name", "reason"), waiting)
    for wait in found.waiting:
        if wait.would_do:
            yield f"job {wait.job} does not begin by itself: {wait.would_do}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Nothing without rows."""
    if rows:
        yield ""
        yield from columns([head, *rows])


def _row(use: SpaceUse) -> tuple[str, ...]:
    age = format_duration(max(0.0, time.time() - use.since)) if use.since else "-"
    return use.name, use.user, use.pool or "-", format_size(use.size), use.state, age


@dataclass(frozen=True)
class SpaceUse:
    """A persistent buffer, or the space of a job."""

    name: str  # of the buffer; the job's number
    user: str
    pool: str  # empty where Slurm does not say
    size: int  # bytes; of one that waits: what it asks for
    state: str
    since: float  # seconds since the epoch


@dataclass(frozen=True)
class WaitingJob:
    """A job that Slurm has not begun, and that asks for burst buffer."""

    job: str
    name: str
    user: str
    reason: str  # Slurm's
    would_do: str  # empty if it begins by itself


@dataclass
class SiteStatus:
    plugin: str  # datawarp | lua
    pools: list[PoolSpace]
    buffers: list[SpaceUse]
    jobs: list[SpaceUse]
    waiting: list[WaitingJob]
    service: str = ""  # of burst_buffer/lua: why it does no work; empty if it does
    users: dict[str, int] = field(default_factory=dict)  # bytes that each one has

    def __post_init__(self) -> None:
        for use in (*self.buffers, *self.jobs):
            if use.state != State.PENDING.value:
                self.users[use.user] = self.users.get(use.user, 0) + use.size


def site_status() -> SiteStatus:
    """As far as this user may see it. Raises SchedulerUnreachable, ReservationFailed if
    this Slurm has no burst buffer."""
    slurm = Slurm({})
    plugin = slurm.plugin()
    waiting = [_waiting(job) for job in slurm.waiting_for_buffers()]
    status = SiteStatus(
        plugin.name, plugin.pools, _buffers(plugin), _jobs(plugin), waiting
    )
    return _with_service(status) if plugin.name == "lua" else status


def _with_service(status: SiteStatus) -> SiteStatus:
    """The service has the persistent buffers of burst_buffer/lua; Slurm has none."""
    lua = SlurmLua({})
    try:
        found = lua.all_buffers()
        pools = lua.pools()
        trouble = lua.trouble()
    except PegasusBBError as error:
        status.service = f"it does not answer: {error}"
        return status
    buffers = [_service_buffer(row) for row in found]
    return SiteStatus(
        status.plugin, pools, buffers, status.jobs, status.waiting, trouble
    )


def _service_buffer(row: dict[str, Any]) -> SpaceUse:
    return SpaceUse(
        row["name"],
        row["user"],
        row["pool"],
        row["size"],
        row["state"],
        row["created"],
    )


def _buffers(plugin: Plugin) -> list[SpaceUse]:
    return [
        SpaceUse(row.name, row.user, row.pool, row.size, row.native, row.created)
        for row in plugin.buffers
    ]


def _jobs(plugin: Plugin) -> list[SpaceUse]:
    """Jobs that only use a persistent buffer have no space of their own."""
    return [
        SpaceUse(job.job, _user(job.uid), job.pool, job.size, job.native, job.created)
        for job in plugin.jobs
        if job.size
    ]


def _waiting(job: SpaceJob) -> WaitingJob:
    return WaitingJob(job.id, job.name, job.user, job.message, advice(job))


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except (KeyError, OverflowError):
        return str(uid)
