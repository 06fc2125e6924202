"""pegasus-bb site: what an administrator does to a site, and looks at."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import click
import orjson

from pegasus_bb.cli.output import echo_lines
from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.text import columns, one_line
from pegasus_bb.core.units import format_duration, format_size
from pegasus_bb.model.reservation import State
from pegasus_bb.runtime.backends.identity import user_name
from pegasus_bb.runtime.backends.scontrol import JobSpace, PersistentBuffer, SpaceJob
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
        click.echo(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
    else:
        echo_lines(_lines(found))


def _lines(found: dict[str, Any]) -> Iterator[str]:
    yield f"Slurm with burst_buffer/{found['plugin']}"
    if found["plugin"] == "lua":
        yield f"service: {found['service'] or 'it answers'}"
    sizes = ("total", "free", "granularity")
    pools = [pool for pool in found["pools"] if pool["total"]]
    rows = [(p["name"], *(format_size(p[size]) for size in sizes)) for p in pools]
    yield from _table(("pool", "total", "free", "granule"), rows)
    users = sorted(found["users"].items(), key=lambda user: -user[1])
    yield from _table(("user", "has"), [(u, format_size(n)) for u, n in users])
    head = ("user", "pool", "size", "state", "age")
    yield from _table(("buffer", *head), [_row(use) for use in found["buffers"]])
    yield from _table(("space of job", *head), [_row(use) for use in found["jobs"]])
    waiting = [
        (w["job"], w["user"], w["name"], one_line(w["reason"]))
        for w in found["waiting"]
    ]
    yield from _table(("waiting job", "user", "name", "reason"), waiting)
    for wait in found["waiting"]:
        if wait["would_do"]:
            yield f"job {wait['job']} does not begin by itself: {wait['would_do']}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Nothing without rows."""
    if rows:
        yield ""
        yield from columns([head, *rows])


def _row(use: dict[str, Any]) -> tuple[str, ...]:
    since = use["since"]
    age = format_duration(max(0.0, time.time() - since)) if since else "-"
    size = format_size(use["size"])
    return use["name"], use["user"], use["pool"] or "-", size, use["state"], age


def site_status() -> dict[str, Any]:
    """What this user may see, with the keys of docs/reference/json.md. Raises
    SchedulerUnreachable, ReservationFailed if this Slurm has no burst buffer."""
    slurm = Slurm({})
    plugin = slurm.plugin()
    pools = plugin.pools
    trouble = ""
    buffers = [_use(row.name, row.user, row) for row in plugin.buffers]
    # Jobs that only use a persistent buffer have no space of their own.
    jobs = [_use(job.job, user_name(job.uid), job) for job in plugin.jobs if job.size]
    if plugin.name == "lua":  # its service has the persistent buffers; Slurm has none
        lua = SlurmLua({})
        try:
            found = [_use_of_service(row) for row in lua.all_buffers()]
            of_service = lua.pools()
            trouble = lua.trouble()
        except PegasusBBError as error:
            trouble = f"it does not answer: {error}"
        else:
            buffers = found
            pools = of_service
    users: dict[str, int] = {}
    for use in (*buffers, *jobs):
        if use["state"] != State.PENDING.value:
            users[use["user"]] = users.get(use["user"], 0) + use["size"]
    return {
        "plugin": plugin.name,
        "pools": [pool._asdict() for pool in pools],
        "buffers": buffers,
        "jobs": jobs,
        "waiting": [_waiting(job) for job in slurm.waiting_for_buffers()],
        "service": trouble,
        "users": users,
    }


def _use(name: str, user: str, row: PersistentBuffer | JobSpace) -> dict[str, Any]:
    state = {"state": row.native, "since": row.created}
    return {"name": name, "user": user, "pool": row.pool, "size": row.size, **state}


def _use_of_service(row: dict[str, Any]) -> dict[str, Any]:
    known = {key: row[key] for key in ("name", "user", "pool", "size", "state")}
    return {**known, "since": row["created"]}


def _waiting(job: SpaceJob) -> dict[str, Any]:
    who = {"job": job.id, "name": job.name, "user": job.user}
    return {**who, "reason": job.message, "would_do": advice(job)}
