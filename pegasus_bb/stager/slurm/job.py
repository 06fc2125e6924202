"""A job of Slurm as the service knows it, one JSON file each."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

from pegasus_bb.core.files import sync_directory, write_json
from pegasus_bb.stager.slurm.directives import Directives, parse_directives
from pegasus_bb.stager.slurm.hook_request import HookRequest
from pegasus_bb.stager.slurm.stored import known, read_record, record_names

NOTED = "noted"  # it waits for room in its pool
STAGING_IN = "staging-in"
STAGED_IN = "staged-in"
FAILED_IN = "failed-in"
RUNNING = "running"
STAGING_OUT = "staging-out"
STAGED_OUT = "staged-out"
FAILED_OUT = "failed-out"
KEPT = "kept"  # Slurm has forgotten it, and its results are not saved
GONE = "gone"  # and what was kept of it needs no one any more

_SHOWN = 500  # characters of both ends of a message: squeue shows it to all users
BEFORE_RUN = (NOTED, STAGING_IN, FAILED_IN, STAGED_IN)


class SlurmJob:
    """``folder``: of its own buffer in pool ``pool``; ``size``: bytes of it; 0: the job
    has none."""

    def __init__(self, number: int, uid: int, gid: int) -> None:
        self.number, self.uid, self.gid = number, uid, gid
        self.lines: list[str] = []  # its directives
        self.state, self.message = NOTED, ""
        self.folder, self.pool, self.size = "", "", 0
        # When Slurm has planned to start it on nodes that it names; of the epoch.
        self.start_time: int | None = None
        self.exit_code = 0  # as Slurm has it
        self.environ: dict[str, str] = {}
        self.buffers: list[str] = []  # persistent ones that it uses
        self.noted_at = self.changed_at = round(time.time(), 3)  # of the epoch
        self.tasks: list[int] = []  # of the service, those of the latest staging
        self._read: tuple[list[str], Directives] | None = None  # lines, and in them

    def hear(self, request: HookRequest) -> None:
        """What Slurm says of the job by the way."""
        if request.directives and request.directives != self.lines:
            self.lines = request.directives
        if request.fields.get("sched_nodes"):  # else its time is a guess of no weight
            self.start_time = request.number("start_time") or self.start_time
        exit_code = request.number("exit_code")
        if exit_code is not None:
            self.exit_code = exit_code

    @property
    def directives(self) -> Directives:
        """Read once: a job has up to 20,000 of them. Raises Refused."""
        if self._read is None or self._read[0] is not self.lines:
            self._read = (self.lines, parse_directives(self.lines))
        return self._read[1]

    def as_json(self) -> dict[str, Any]:
        """The record of the job."""
        return {key: self.__dict__[key] for key in self.__dict__ if key != "_read"}

    @property
    def has_failed(self) -> bool:
        """Whether its task has."""
        return self.exit_code != 0

    @property
    def life(self) -> str:
        """A job of the same number at another time has another one."""
        return f"job.{self.number}.{int(self.noted_at)}"

    @property
    def node_folder(self) -> str:
        """The name of its folder on each of its nodes, where it has any."""
        return self.life

    def fields(self) -> dict[str, str]:
        """For the hooks."""
        found = {"state": self.state, "message": _shown(self.message)}
        if self.size:
            found["size"] = str(self.size)
        if "BB_NODE" in self.environ:
            found["nodes"] = "wait"  # pre_run does
        if self.start_time:
            found["start_time"] = str(self.start_time)
        return found


def _shown(message: str) -> str:
    """Paths are long; what is wrong with one stands behind it."""
    if len(message) <= 2 * _SHOWN:
        return message
    return f"{message[:_SHOWN]} ... {message[-_SHOWN:]}"


LISTS = {"lines": [""], "buffers": [""], "tasks": [0]}  # what is in those of a job


def read_job(path: str) -> SlurmJob:
    """The job of a record. Raises OSError, UsageError."""
    like = {**SlurmJob(0, 0, 0).as_json(), **LISTS}
    data = read_record(path, like, ("number", "uid", "gid", "state"))
    job = SlurmJob(data["number"], data["uid"], data["gid"])
    job.__dict__.update(known(data, like))
    if job.state != GONE and os.path.basename(path) != f"{job.number}.json":
        job.state = KEPT  # ``keep`` was its latest step
    return job


class JobFiles:
    """The records of all jobs, in one folder. Methods raise OSError."""

    def __init__(self, folder: str) -> None:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._folder = folder

    def read(self) -> Iterator[SlurmJob]:
        """Every job of an earlier service. Raises UsageError as well."""
        return map(read_job, record_names(self._folder))

    def save(self, job: SlurmJob) -> None:
        """Durable when this returns."""
        write_json(self._path(job), job.as_json())

    def keep(self, job: SlurmJob) -> None:
        """From now on ``job`` is kept, and its number may be another job's."""
        before = self._path(job)
        former = job.state
        job.state = KEPT
        try:
            os.rename(before, self._path(job))
        except OSError:
            job.state = former
            raise
        sync_directory(self._folder)

    def remove(self, job: SlurmJob) -> None:
        """Absent is fine."""
        try:
            os.unlink(self._path(job))
        except FileNotFoundError:
            return
        sync_directory(self._folder)

    def _path(self, job: SlurmJob) -> str:
        kept = job.folder or job.life
        name = kept if job.state in (KEPT, GONE) else str(job.number)
        return os.path.join(self._folder, f"{name}.json")
