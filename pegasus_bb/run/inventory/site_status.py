"""What a Slurm site's burst buffer holds, for whom, and who waits for it."""

from __future__ import annotations

import pwd
from dataclasses import dataclass, field
from typing import Any

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.model.reservation import State
from pegasus_bb.runtime.backends.base import PoolSpace
from pegasus_bb.runtime.backends.queue_reasons import advice
from pegasus_bb.runtime.backends.scontrol import Plugin, SpaceJob
from pegasus_bb.runtime.backends.slurm import Slurm
from pegasus_bb.runtime.backends.slurm_lua import SlurmLua


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
