"""The ``datawarp`` backend: persistent buffers of Slurm's burst_buffer/datawarp plugin.

It calls sbatch, scontrol, squeue and scancel, and submits jobs without nodes, which do
not queue for a node. docs/lifecycle.md says how Slurm treats them, often silently. Keys
of the tier: ``timeout`` of a delete (15m), ``poll`` while it waits (5s), ``mount``
(``required``; ``any`` if buffers are plain folders), and ``account``, ``partition``,
``qos`` for the jobs without nodes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence

from pegasus_bb.core.errors import ReservationFailed, SchedulerUnreachable
from pegasus_bb.core.units import format_size, round_up
from pegasus_bb.model.reservation import (
    Request,
    Reservation,
    State,
    Status,
    check_reservation_name,
)
from pegasus_bb.runtime.backends.base import (
    Listing,
    PoolSpace,
    ReservationRow,
    Unstaged,
)
from pegasus_bb.runtime.backends.scontrol import PersistentBuffer, Plugin, SpaceJob
from pegasus_bb.runtime.backends.slurm import (
    STAGE_OUT_FAILED,
    Slurm,
    create_line,
    destroy_line,
)
from pegasus_bb.runtime.backends.slurm_backend import SlurmBackend
from pegasus_bb.runtime.backends.squeue import advice


class DataWarp(SlurmBackend):
    def __init__(self, settings: Mapping[str, str]) -> None:
        """Raises UsageError if a key is invalid."""
        super().__init__(settings, poll="5s")
        self.mount_required = settings.get("mount", "required") != "any"
        self.slurm = Slurm(settings)
        self._withdrawn: set[str] = set()  # create jobs that delete() has cancelled
        # Unaccounted bytes while a buffer of that name was shown: not that buffer's.
        self._foreign_bytes: dict[str, int] = {}

    def create(self, request: Request) -> Reservation:
        name = check_reservation_name(request.name)
        job = self._create_job(request)  # before the row, which it may make meanwhile
        plugin = self.slurm.plugin()
        self._check_size(plugin, request)
        row = _row(plugin, name)
        if row is not None:
            self._check_owner(row, request)
            if job is None:
                raise ReservationFailed(self._leftover(row, request))
            self._check_large_enough(row, request)
        elif job is not None and (job.held or job.state is not State.PENDING):
            self.slurm.cancel(job.id)  # a held job stays held; submit another
            job = None
        identifier = job.id if job else self._submit(request, create_line(request))
        return Reservation.of(request, time.time(), job=identifier, owner=self.owner)

    def get_status(self, request: Request) -> Status:
        # In this order, so that a buffer made by a job that has just ended is seen.
        jobs = self._jobs(request)
        plugin = self.slurm.plugin()
        return self._status_for(request, jobs, plugin, _row(plugin, request.name))

    def get_listing(self, requests: Sequence[Request]) -> Listing:
        jobs: dict[str, list[SpaceJob]] = {}
        for job in self.slurm.jobs(*(request.name for request in requests)):
            if job.uid == self.uid:
                jobs.setdefault(job.name, []).append(job)
        plugin = self.slurm.plugin()
        unstaged = self._unstaged(plugin)
        rows = {row.name: row for row in plugin.buffers}
        return Listing(
            [
                self._status_for(r, jobs.get(r.name, []), plugin, rows.get(r.name))
                for r in requests
            ],
            [
                ReservationRow(row.name, row.uid == self.uid, self._status_of_row(row))
                for row in rows.values()
            ],
            unstaged=unstaged,
        )

    def path(self, request: Request, environ: Mapping[str, str]) -> str:
        variable = f"DW_PERSISTENT_STRIPED_{check_reservation_name(request.name)}"
        number = environ.get("SLURM_JOB_ID", "")
        return self.use_folder(
            environ.get(variable, ""),
            f"${variable}",
            request,
            unset=_missing_buffer_message(request, number),
            not_here=f"reservation {request.name} is not mounted here",
        )

    def delete(self, request: Request) -> None:
        name = check_reservation_name(request.name)
        if _row(self.slurm.plugin(), name) is None:
            self._withdraw(request)
        plugin = self.slurm.plugin()
        row = _row(plugin, name)
        if row is None:
            return
        self._note_foreign_bytes(plugin, request)
        self._check_owner(row, request)
        self._create_job(request)  # refuses a buffer of another run of this user
        destroy = self._submit(request, destroy_line(request), ".destroy")
        self._await_absence(request, destroy)

    def pools(self) -> list[PoolSpace]:
        return self.slurm.plugin().pools

    def _unstaged(self, plugin: Plugin) -> list[Unstaged]:
        spaces = {space.job: space for space in plugin.jobs if space.uid == self.uid}
        ended = self.slurm.staging_out() if spaces else []
        return [
            Unstaged(job.id, spaces[job.id].size, spaces[job.id].created, job.message)
            for job in ended
            if job.id in spaces and STAGE_OUT_FAILED in job.message
        ]

    # -- status

    def _status_for(
        self,
        request: Request,
        jobs: list[SpaceJob],
        plugin: Plugin,
        row: PersistentBuffer | None,
    ) -> Status:
        try:
            if row is not None:
                foreign = self._note_foreign_bytes(plugin, request)
                shown = self._checked_status_of_row(row, request)
                return shown._replace(unaccounted=foreign)
            status = self._status_of_job(self._newest(jobs, request), plugin, request)
            doubt = self._doubt(plugin, request)
            return doubt if doubt and status.state is State.ABSENT else status
        except ReservationFailed as error:
            return Status(State.FAILED, str(error))

    def _checked_status_of_row(self, row: PersistentBuffer, request: Request) -> Status:
        shown = self._status_of_row(row)
        try:
            self._check_owner(row, request)
            self._check_large_enough(row, request)
        except ReservationFailed as error:
            return shown._replace(state=State.FAILED, message=str(error))
        return shown

    def _status_of_row(self, row: PersistentBuffer) -> Status:
        message = f"{row.native} in pool {row.pool or 'not known'}"
        # Compare uids: user names may be resolved differently on another host.
        owner = self.owner if row.uid == self.uid else row.user
        return Status(row.state, message, owner, row.size, row.created)

    def _status_of_job(
        self, job: SpaceJob | None, plugin: Plugin, request: Request
    ) -> Status:
        if job is None:
            return Status(State.ABSENT, f"Slurm knows no buffer {request.name}")
        message = f"job {job.id} that asks for {request.name} is {job.native}"
        if job.held:
            return Status(State.FAILED, f"{message}, held by Slurm: {job.message}")
        if job.state is State.ABSENT:
            there = f"Slurm knows no buffer {request.name}"
            return Status(State.ABSENT, f"{there}, and {message}")
        if job.state is not State.PENDING:
            return Status(job.state, f"{message}: {job.message or 'no reason given'}")
        self._check_size(plugin, request)
        return Status(job.state, f"{message}: {_why_pending(job, plugin, request)}")

    def _create_job(self, request: Request) -> SpaceJob | None:
        """The newest create job that Slurm still remembers.

        Raises ReservationFailed if it is of another run of this user.
        """
        return self._newest(self._jobs(request), request)

    def _jobs(self, request: Request) -> list[SpaceJob]:
        jobs = self.slurm.jobs(request.name)
        return [job for job in jobs if job.uid == self.uid]

    def _newest(self, jobs: list[SpaceJob], request: Request) -> SpaceJob | None:
        ours = [job for job in jobs if job.id not in self._withdrawn]
        if ours and ours[-1].comment != request.uuid:
            raise ReservationFailed(
                f"job {ours[-1].id} of {self.owner} asked for {request.name} for "
                f"another run ({ours[-1].comment or 'unknown'}, not {request.uuid}); "
                "plan again: a new run gets a new name"
            )
        return ours[-1] if ours else None

    # -- missing rows

    def _note_foreign_bytes(self, plugin: Plugin, request: Request) -> int:
        pool = plugin.pool(request.pool)
        foreign = plugin.unaccounted(pool) if pool is not None else 0
        self._foreign_bytes[request.name] = foreign
        return foreign

    def _doubt(self, plugin: Plugin, request: Request) -> Status | None:
        """UNKNOWN if a missing row may not mean absent.

        If DataWarp did not answer slurmctld at its start, slurmctld shows no buffers,
        but reads from the pools how many bytes are in use.
        """
        pool = plugin.pool(request.pool)
        if pool is None:
            return None
        size = round_up(request.capacity, pool.granularity)
        others = self._foreign_bytes.get(request.name, 0)
        unaccounted = plugin.unaccounted(pool)
        if not unaccounted - others >= size > 0:
            return None
        message = (
            f"Slurm shows no buffer {request.name}, yet {format_size(unaccounted)} of "
            f"pool {pool.name} are in use that no row accounts for: a server may be "
            "down, or DataWarp did not answer slurmctld when it started. `dwstat "
            "instances`, or an administrator, can tell whether it is there; `scontrol "
            "reconfigure` or a restart of slurmctld reads it again"
        )
        return Status(State.UNKNOWN, message, unaccounted=unaccounted)

    # -- refusals

    def _check_size(self, plugin: Plugin, request: Request) -> None:
        pool = plugin.pool(request.pool)
        if pool is None:
            known = ", ".join(p.name for p in plugin.pools)
            raise ReservationFailed(
                f"Slurm has no pool {request.pool!r}; there are {known}. Name one of "
                "them in the tier (`pool`), or none, and plan again"
            )
        size = round_up(request.capacity, pool.granularity)
        if request.capacity <= 0 or size > pool.total:
            raise ReservationFailed(
                f"reservation {request.name} asks for {format_size(request.capacity)}; "
                f"pool {pool.name} has {format_size(pool.total)} in all, and Slurm "
                "would leave it pending for ever. Plan again with a lower capacity "
                "(--bb-capacity)"
            )

    def _check_owner(self, row: PersistentBuffer, request: Request) -> None:
        if row.uid != self.uid:
            raise ReservationFailed(
                f"the name {request.name} belongs to {row.user} (uid {row.uid}), not "
                f"to {self.owner} (uid {self.uid}); plan again: a new run gets a new "
                "name"
            )

    def _check_large_enough(self, row: PersistentBuffer, request: Request) -> None:
        if row.size < request.capacity:
            raise ReservationFailed(
                f"{self._leftover(row, request)}. It is smaller than the "
                f"{format_size(request.capacity)} that this run asks for"
            )

    def _leftover(self, row: PersistentBuffer, request: Request) -> str:
        made = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row.created))
        return (
            f"a buffer {request.name} of {row.user} was there before this run asked "
            f"({format_size(row.size)}, made {made}); Slurm would silently use it "
            f"again. Give it back with `pegasus-bb release {request.name}`, or plan "
            "again"
        )

    # -- steps

    def _submit(self, request: Request, line: str, suffix: str = "") -> str:
        return self.slurm.submit(request.name + suffix, request.uuid, line)

    def _withdraw(self, request: Request) -> None:
        job = self._create_job(request)
        if job is None:
            return
        self._withdrawn.add(job.id)
        if job.state is State.PENDING:
            self.slurm.cancel(job.id)
            time.sleep(self.poll)

    def _await_absence(self, request: Request, destroy: str) -> None:
        until = time.monotonic() + self.timeout
        message = ""
        while True:
            try:
                plugin = self.slurm.plugin()
                doubt = self._doubt(plugin, request)
                if _row(plugin, request.name) is None and doubt is None:
                    return
                message = doubt.message if doubt else ""
            except SchedulerUnreachable as error:
                message = str(error)
            if time.monotonic() >= until:
                break
            time.sleep(self.poll)
        if message:
            raise SchedulerUnreachable(
                f"asked to give {request.name} back (job {destroy}), then: {message}"
            )
        job = self.slurm.job(destroy)
        self.slurm.cancel(destroy)  # else Slurm retries for ever
        raise ReservationFailed(
            f"buffer {request.name} is still there {self.timeout} s after job "
            f"{destroy} asked for its end; Slurm says: "
            f"{job.message if job else 'nothing'}. It holds its space: delete again "
            "later, or tell an administrator"
        )

    def may_claim(self, path: str) -> bool:
        """Whether it is mounted there, where the tier asks for that."""
        if not self.mount_required:
            return True
        above = os.path.dirname(os.path.realpath(path))
        return os.stat(path).st_dev != os.stat(above).st_dev


def _row(plugin: Plugin, name: str) -> PersistentBuffer | None:
    return next((row for row in plugin.buffers if row.name == name), None)


def _why_pending(job: SpaceJob, plugin: Plugin, request: Request) -> str:
    why = job.message or "no reason given"
    pool = plugin.pool(request.pool)
    if job.reason == "BurstBufferResources" and pool is not None:
        size = format_size(round_up(request.capacity, pool.granularity))
        return f"{why}, waits for {size}; {format_size(pool.free)} free in {pool.name}"
    would_do = advice(job)
    return f"{why}; {would_do}" if would_do else why


def _missing_buffer_message(request: Request, number: str) -> str:
    """Why a job has no buffer, and how to find out which cause it is. Split into lines,
    because long lines are cut where the end of a node's output is shown."""
    return (
        f"Slurm was not given its `#DW persistentdw name={request.name}`, or the "
        "reservation is not attached to this node\n"
        f"  see:    `scontrol show job {number or 'NUMBER'}` has no line BurstBuffer= "
        "where Slurm was not given it\n"
        "  likely: blahp's slurm_local_submit_attributes.sh, which hands it on, is "
        "missing on the submit host (docs/how-to/slurm-datawarp.md, administrator 3)\n"
        "  else:   in a DAG of your own the submit file may lack the directive"
    )
