"""A job of Slurm as the service knows it."""

from __future__ import annotations

import time

from pegasus_bb.stager.slurm.directives import Directives, parse_directives
from pegasus_bb.stager.slurm.granted_space import Holder
from pegasus_bb.stager.slurm.spool import HookRequest

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
BEFORE_END = (*BEFORE_RUN, RUNNING)


class SlurmJob(Holder):
    """``folder``: of its own buffer in pool ``pool``; ``size``: bytes of it; 0: the job
    has none."""

    def __init__(self, number: int = 0, uid: int = 0, gid: int = 0) -> None:
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
        # When squeue did not know it first, while it runs; 0: squeue does.
        self.unknown_since = 0.0
        self.tasks: list[int] = []  # of the service, those of the latest staging
        self._read: tuple[list[str], Directives] | None = None  # lines, and in them

    def update_from(self, request: HookRequest) -> None:
        """Take over what Slurm says of the job in a request."""
        if request.directives and request.directives != self.lines:
            self.lines = request.directives
        if request.fields.get("sched_nodes"):  # else its time is a guess of no weight
            self.start_time = request.number("start_time") or self.start_time
        exit_code = request.number("exit_code")
        if exit_code is not None:
            self.exit_code = exit_code

    @property
    def directives(self) -> Directives:
        """What its lines ask for, read once: a job has up to 20,000. Raises Refused."""
        if self._read is None or self._read[0] is not self.lines:
            self._read = (self.lines, parse_directives(self.lines))
        return self._read[1]

    @property
    def has_failed(self) -> bool:
        """Whether its task has."""
        return self.exit_code != 0

    @property
    def life(self) -> str:
        """A name of this life; a job of the same number at another time has another
        one. It is the name of the job's folder on each of its nodes, too."""
        return f"job.{self.number}.{int(self.noted_at)}"

    @property
    def key(self) -> str:
        """As its number, which is another job's some day, with the time it began."""
        return f"{self.number}.{self.noted_at}"

    def fields(self) -> dict[str, str]:
        """Return what the hooks read, beside the variables."""
        message = self.message
        if len(message) > 2 * _SHOWN:  # what is wrong with a path stands behind it
            message = f"{message[:_SHOWN]} ... {message[-_SHOWN:]}"
        found = {"state": self.state, "message": message}
        if self.size:
            found["size"] = str(self.size)
        if "BB_NODE" in self.environ:
            found["nodes"] = "wait"  # pre_run does
        if self.start_time:
            found["start_time"] = str(self.start_time)
        return found
