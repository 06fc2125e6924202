"""The life of each job: staged in, running, staged out, and its buffer given back.

Every note of a hook may come twice, late, or after a restart of Slurm or of the
service; each step looks at the state on disk first. Results that are not saved are
never removed: they are kept (kept.py).
"""

from __future__ import annotations

import time
from functools import partial
from typing import Callable, Dict, List, Optional

from pegasus_bb.service.protocol import Refused
from pegasus_bb.service.slurm.buffers import Buffers
from pegasus_bb.service.slurm.job import (
    BEFORE_RUN,
    FAILED_IN,
    FAILED_OUT,
    GONE,
    KEPT,
    NOTED,
    RUNNING,
    STAGED_IN,
    STAGED_OUT,
    STAGING_IN,
    STAGING_OUT,
    Job,
    JobFiles,
)
from pegasus_bb.service.slurm.kept import Kept
from pegasus_bb.service.slurm.nodes.staging import Nodes
from pegasus_bb.service.slurm.requests import Request
from pegasus_bb.service.slurm.rooms import Rooms
from pegasus_bb.service.slurm.spool import Spool
from pegasus_bb.service.slurm.transfers import Transfers
from pegasus_bb.units import abbreviate

_FORGOTTEN = (
    600.0  # seconds after which Slurm has forgotten a job whose results are safe
)


class Jobs:
    """Heeds the notes of hooks."""

    def __init__(
        self,
        spool: Spool,
        files: JobFiles,
        rooms: Rooms,
        buffers: Buffers,
        transfers: Transfers,
        nodes: Nodes,
    ) -> None:
        """Knows what an earlier service knew. Raises OSError, ValueError,
        UsageError."""
        self._spool, self._files, self._rooms = spool, files, rooms
        self._buffers, self._transfers = buffers, transfers
        self._nodes = nodes
        self.kept = Kept(files, rooms, transfers)
        self._jobs: Dict[int, Job] = {}
        for job in files.read():
            rooms.restore(job)
            buffers.restore_use(job.buffers, job.number)
            if job.state == KEPT:
                self.kept.restore(job)
            else:
                self._jobs[job.number] = job
        self._steps: Dict[str, Callable[[Job], None]] = {
            "setup": self._note,
            "data_in": self._stage_in,
            "pre_run": self._run,
            "post_run": self._note,
            "data_out": self._stage_out,
            "teardown": self._tear_down,
        }

    def go_on(self) -> None:
        """Do what an earlier service was at; tell the hooks what it could not tell."""
        for number in self._spool.known_jobs():
            if number not in self._jobs:
                self._spool.forget_job(number)
        for job in list(self._jobs.values()):
            self._tell(job)
            self._nodes.go_on(job, partial(self._on_nodes, job))
            if job.state in (NOTED, STAGING_IN):
                self._begin_stage_in(job)
            elif job.state == STAGING_OUT:
                self._begin_stage_out(job)
        self.kept.retry()

    def heed(self, request: Request) -> None:
        """Do what a hook says. Raises OSError, ValueError."""
        job = self._jobs.get(request.job)
        if job is None:
            if request.do not in ("setup", "data_in"):
                if request.do == "pre_run":
                    self._nodes.answer(request, "the staging service does not know it")
                # Torn down before Slurm was started again: all is safe or kept.
                self._spool.tell_job(request.job, {"state": GONE}, ())
                self._spool.heard(request.job)
                return
            job = self._jobs[request.job] = Job(request.job, request.uid, request.gid)
        planned = job.start_time
        job.hear(request)
        if job.state == STAGING_IN and job.start_time != planned:
            self._files.save(job)
            self._transfers.move_deadline(job, job.start_time)
            self._tell(job)
        if request.do == "pre_run" and "BB_NODE" in job.environ:
            self._stage_nodes(job, request)
            return
        self._steps[request.do](job)
        if request.do in ("data_in", "data_out"):
            self._spool.heard(job.number)

    def retry(self) -> None:
        """Room came back: those that wait for it may go on."""
        for job in list(self._jobs.values()):
            self._stage_in(job)

    def tidy(self) -> None:
        """Try to save what is kept; forget what is over. Now and then.

        slurmctld writes down its burst buffers every 30 s (burst_buffer_lua.c,
        AGENT_INTERVAL): killed before that, it never tears the job down.
        """
        self.kept.retry()
        for job in list(self._jobs.values()):
            if job.state == STAGED_OUT and time.time() - job.changed_at > _FORGOTTEN:
                self._tear_down(job)
        self._spool.forget_old_jobs(self._jobs)

    # -- steps of a job's life

    def _note(self, job: Job) -> None:
        """What the job heard is enough: the next hook says it once more, and a sync for
        each job costs the site more than it saves."""

    def _stage_in(self, job: Job) -> None:
        if job.state == NOTED and job.lines:
            self._begin_stage_in(job)

    def _begin_stage_in(self, job: Job) -> None:
        """Give the job what it asks for; where there is no room now, it stays noted."""
        try:
            if not self._rooms.make(job):
                self._change(job, NOTED, "it waits for room in its pool")
                return
            job.environ = self._rooms.environ(job)
            places = self._rooms.resolve(job, job.directives.stage_in)
            if not places:
                self._staged_in(job, [])
                return
            self._change(job, STAGING_IN, "")
            self._transfers.copy(
                *(job, places, job.start_time), lambda why: self._staged_in(job, why)
            )
        except (Refused, OSError) as error:
            self._change(job, FAILED_IN, _words(error))

    def _staged_in(self, job: Job, why: List[str]) -> None:
        job.tasks = []
        self._change(job, FAILED_IN if why else STAGED_IN, abbreviate(why))

    def _run(self, job: Job) -> None:
        if job.state == STAGED_IN:
            self._change(job, RUNNING)

    def _stage_nodes(self, job: Job, request: Request) -> None:
        """pre_run waits; Slurm tears the job down where it fails. Raises OSError."""
        try:
            places = self._rooms.resolve(job, job.directives.stage_in)
            self._nodes.stage_in(job, request, places, partial(self._on_nodes, job))
        except (Refused, ValueError) as error:
            self._nodes.answer(request, str(error))

    def _on_nodes(self, job: Job, _: List[str]) -> None:
        """All is there: pre_run succeeds when this returns."""
        self._run(job)

    def _stage_out(self, job: Job) -> None:
        if job.state not in (STAGING_OUT, STAGED_OUT):
            self._begin_stage_out(job)

    def _begin_stage_out(self, job: Job) -> None:
        try:
            places = self._rooms.resolve(job, job.directives.stage_out)
            if not places:
                self._staged_out(job, [])
                return
            self._change(job, STAGING_OUT, "")
            self._transfers.copy(
                *(job, places, None), lambda why: self._staged_out(job, why)
            )
        except (Refused, OSError) as error:
            self._change(job, FAILED_OUT, _words(error))

    def _staged_out(self, job: Job, why: List[str]) -> None:
        try:
            if why:
                raise Refused("not-copied", abbreviate(why))
            if not job.has_failed:
                self._share_and_delete(job)
            self._change(job, STAGED_OUT, "")
        except (Refused, OSError) as error:
            self._change(job, FAILED_OUT, _words(error))

    def _share_and_delete(self, job: Job) -> None:
        for share in job.directives.shares:
            self._buffers.share(job.uid, share.name, share.user, share.allowed)
        for name in job.directives.deletes:
            self._buffers.delete(job.uid, name)

    def _tear_down(self, job: Job) -> None:
        """Slurm is done with the job, or gives it up."""
        del self._jobs[job.number]
        if job.state not in (*BEFORE_RUN, STAGED_OUT) and self._rooms.has_results(job):
            self.kept.keep(job)
        else:
            self._transfers.cancel(job)
            self._rooms.give_back(job)
            self._files.remove(job)
        self._buffers.end_use(job.number)
        self._spool.tell_job(job.number, {"state": GONE}, ())

    def _change(self, job: Job, state: str, message: Optional[str] = None) -> None:
        """The record first, then the word to the hooks."""
        job.state, job.changed_at = state, time.time()
        if message is not None:
            job.message = message
        self._files.save(job)
        self._tell(job)

    def _tell(self, job: Job) -> None:
        if "BB_NODE" in job.environ:
            self._spool.hang_bell(job.number)
        environ = [f"{key}={value}" for key, value in job.environ.items()]
        self._spool.tell_job(job.number, job.fields(), environ)


def _words(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}"
    return str(error)
