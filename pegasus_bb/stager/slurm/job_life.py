"""The life of each job: staged in, running, staged out, and its buffer given back.

Every note of a hook may come twice, late, or after a restart of Slurm or of the
service; each step looks at the state on disk first. Results that are not saved are
never removed: they are kept (kept_results.py). Where the service takes no copies
now, a job stays where it is, and Slurm asks again.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Container
from functools import partial
from typing import Callable

from pegasus_bb.core.units import abbreviate
from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.stager.messages import complain, message_of
from pegasus_bb.stager.slurm.directives import PlacePair
from pegasus_bb.stager.slurm.job import (
    BEFORE_END,
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
    SlurmJob,
)
from pegasus_bb.stager.slurm.job_copies import Ended
from pegasus_bb.stager.slurm.job_storage import JobStorage
from pegasus_bb.stager.slurm.kept_results import KeptResults
from pegasus_bb.stager.slurm.spool import HookRequest, Spool
from pegasus_bb.stager.slurm.squeue import Queue, has_ended

# Seconds after which Slurm has forgotten a job in one of these states. All that one has
# made is saved then, or cannot be.
_FORGOTTEN = {STAGED_OUT: 30.0, FAILED_OUT: 600.0}
_NO_ROOM = "it waits for room in its pool"
_FIRST = "data_in"  # the hook that begins a life
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Jobs:
    """Handles the notes of hooks."""

    def __init__(self, spool: Spool, storage: JobStorage) -> None:
        """Knows what an earlier service knew."""
        self._spool, self._storage, self._files = spool, storage, storage.files
        self._buffers, self._nodes = storage.buffers, storage.nodes
        self.kept = KeptResults(storage)
        every = self._files.all()
        self._jobs = {job.number: job for job in every if job.state not in (KEPT, GONE)}
        self._unreported: set[SlurmJob] = set()  # the hooks do not know their state yet
        self._buffers.is_used = self._uses
        self._steps: dict[str, Callable[[SlurmJob], None]] = {
            "data_in": self._stage_in,
            "pre_run": self._run,
            "data_out": self._stage_out,
            "teardown": self._tear_down,
        }

    def resume(self) -> None:
        """Do what an earlier service was at; report what it could not report."""
        for job in self._all():
            self._report_or_later(job)
            self._nodes.resume(job, partial(self._on_nodes, job))
            self._resume_copies(job)
        self.kept.retry()
        for number in self._spool.known_jobs():
            if number not in self._jobs:
                self._spool.forget_job(number)

    def handle_request(self, request: HookRequest) -> None:
        """Do what a hook says. Raises OSError, ValueError."""
        job = self._jobs.get(request.job)
        if job is not None and _is_of_another(request, job):
            self._tear_down(job)
            job = None
        if job is None:
            if request.do != _FIRST:
                if request.do == "pre_run":
                    why = "the staging service does not know it"
                    self._spool.answer_job(request.job, request.token, why)
                # Torn down before Slurm was started again: all is safe or kept.
                self._spool.report_job(request.job, {"state": GONE}, {})
                self._spool.acknowledge(request.job)
                return
            job = SlurmJob(request.job, request.uid, request.gid)
            self._jobs[request.job] = job
        planned = job.start_time
        changed_at = job.changed_at
        job.update_from(request)
        if job.state == STAGING_IN and job.start_time != planned:
            self._files.save(job)
            self._nodes.move_deadline(job, job.start_time)
            self._report_or_later(job)
        if request.do == "pre_run" and "BB_NODE" in job.environ:
            self._stage_nodes(job, request)
            return
        self._steps[request.do](job)
        if request.do in ("data_in", "data_out"):
            if job.changed_at == changed_at or job in self._unreported:
                self._report(job)
            self._spool.acknowledge(job.number)

    def report_unreported(self) -> None:
        """Report what could not be reported: a job whose state the hooks do not know
        waits for ever. Raises OSError."""
        for job in list(self._unreported):
            if self._jobs.get(job.number) is job:
                self._report(job)
            self._unreported.discard(job)

    def retry(self) -> None:
        """Let jobs that wait for room go on: some came back."""
        for job in self._all():
            self._stage_in(job)

    def tidy(self) -> None:
        """Try to save what is kept, and to copy what had to wait; forget what is over.
        Now and then.

        slurmctld writes down its burst buffers every 30 s (burst_buffer_lua.c,
        AGENT_INTERVAL): killed before that, it never tears the job down. Nor does it
        where the spool takes no note for half a minute.
        """
        self.kept.retry()
        for job in self._all():
            self._resume_copies(job)
            patience = _FORGOTTEN.get(job.state)
            if patience and time.time() - job.changed_at > patience:
                self._try_to_tear_down(job)
        self._spool.forget_old_jobs(self._jobs)

    # -- those that have ended without a hook being called

    @property
    def may_be_over(self) -> bool:
        """Whether squeue should be asked."""
        return any(job.state in BEFORE_END for job in self._all())

    def give_up(self, queue: Queue, noted: Container[int]) -> None:
        """Tear down those that are over, as ``queue`` has them. ``noted``: the jobs
        with a note of a hook that is not handled yet."""
        for job in self._all():
            if has_ended(job, queue, noted):
                complain(f"job {job.number} has ended, and Slurm has not said so")
                self._try_to_tear_down(job)

    def _uses(self, name: str) -> bool:
        """Whether no file of the persistent buffer ``name`` may go yet."""
        return any(name in job.buffers for job in (*self._all(), *self.kept.jobs))

    def _all(self) -> list[SlurmJob]:
        return list(self._jobs.values())

    # -- steps of a job's life

    def _stage_in(self, job: SlurmJob) -> None:
        if job.state == NOTED and job.lines:
            self._begin_stage_in(job)

    def _begin_stage_in(self, job: SlurmJob) -> None:
        """Give the job what it asks for; where there is no room now, it stays noted."""
        try:
            if not self._storage.make(job):
                if (job.state, job.message) != (NOTED, _NO_ROOM):
                    self._change(job, NOTED, _NO_ROOM)
                return
            job.environ = self._storage.environ(job)
            copies = job.directives.stage_in
            every = [*copies, *job.directives.stage_out]
            self._storage.resolve(job, every)  # before it computes
            self._copy(job, copies, STAGING_IN, partial(self._staged_in, job))
        except (Refused, OSError) as error:
            self._fail(job, FAILED_IN, error)

    def _copy(
        self, job: SlurmJob, copies: list[PlacePair], state: str, ended: Ended
    ) -> None:
        """Do the ``copies`` of ``job``, which is in ``state`` meanwhile."""
        places = self._storage.resolve(job, copies)
        if not places:
            ended([], "")
            return
        self._change(job, state, "")
        deadline = job.start_time if state == STAGING_IN else None
        self._nodes.copy(job, places, deadline, ended)

    def _resume_copies(self, job: SlurmJob) -> None:
        """Begin once more what is not under way: the service was killed, or took no
        task then, or its disk was full."""
        if self._nodes.is_copying(job):
            return
        if job.state == NOTED:
            self._stage_in(job)
        elif job.state == STAGING_IN:
            self._begin_stage_in(job)
        elif job.state == STAGING_OUT:
            self._begin_stage_out(job)

    def _staged_in(self, job: SlurmJob, why: list[str], later: str) -> None:
        try:
            if not later:
                self._change(job, FAILED_IN if why else STAGED_IN, abbreviate(why))
                job.tasks = []
        except OSError as error:
            later = message_of(error)
        if later:
            self._wait(job, later)

    def _run(self, job: SlurmJob) -> None:
        if job.state == STAGED_IN:
            self._change(job, RUNNING, job.message)

    def _stage_nodes(self, job: SlurmJob, request: HookRequest) -> None:
        """pre_run waits; Slurm tears the job down where it fails. Raises OSError."""
        try:
            places = self._storage.resolve(job, job.directives.stage_in)
            self._nodes.stage_in(job, request, places, partial(self._on_nodes, job))
        except (Refused, ValueError) as error:
            self._spool.answer_job(request.job, request.token, str(error))

    def _on_nodes(self, job: SlurmJob, *_: object) -> None:
        """All is there: pre_run succeeds when this returns."""
        self._run(job)

    def _stage_out(self, job: SlurmJob) -> None:
        if job.state not in (STAGING_OUT, STAGED_OUT):
            self._begin_stage_out(job)

    def _begin_stage_out(self, job: SlurmJob) -> None:
        try:
            copies = job.directives.stage_out
            self._copy(job, copies, STAGING_OUT, partial(self._staged_out, job))
        except (Refused, OSError) as error:
            self._fail(job, FAILED_OUT, error)

    def _staged_out(self, job: SlurmJob, why: list[str], later: str) -> None:
        if later:
            self._wait(job, later)
            return
        try:
            if why:
                raise Refused("not-copied", abbreviate(why))
            if not job.has_failed:
                for allowed, name, user in job.directives.shares:
                    self._buffers.share(job.uid, name, user, allowed=allowed)
                for name in job.directives.deletes:
                    self._buffers.delete(job.uid, name)
            self._change(job, STAGED_OUT, "")
        except (Refused, OSError) as error:
            self._fail(job, FAILED_OUT, error)

    def _tear_down(self, job: SlurmJob) -> None:
        """End a job with which Slurm is done, or which it gives up."""
        is_all_saved = job.state in (*BEFORE_RUN, STAGED_OUT)
        del self._jobs[job.number]
        try:
            if not is_all_saved and self._storage.has_results(job):
                self.kept.keep(job)
            else:
                self._storage.end(job)
        except BaseException:  # the note of the hook stays for the next look
            self._jobs[job.number] = job
            raise
        self._spool.report_job(job.number, {"state": GONE}, {})

    def _try_to_tear_down(self, job: SlurmJob) -> None:
        """Where that cannot be done now, a later look does it; other jobs do not wait
        for it."""
        try:
            self._tear_down(job)
        except OSError as error:
            complain(f"job {job.number}: {message_of(error)}")

    def _change(self, job: SlurmJob, state: str, message: str) -> None:
        """Write the record first, then report to the hooks, which may come later.
        Raises OSError where it is not recorded."""
        self._files.save(job, state=state, changed_at=time.time(), message=message)
        if state in (FAILED_IN, FAILED_OUT):
            complain(f"job {job.number} of uid {job.uid}: {state}: {job.message}")
        self._report_or_later(job)

    def _fail(self, job: SlurmJob, state: str, error: Exception) -> None:
        """Note that ``job`` has failed; but a full disk is no fault of it. Called back
        by the service, so nothing is raised."""
        try:
            if isinstance(error, OSError) and error.errno in _FULL:
                raise error
            self._change(job, state, message_of(error))
        except OSError as why:
            self._wait(job, message_of(why))

    def _wait(self, job: SlurmJob, why: str) -> None:
        """Let it stay where it is, until it is tried again (tidy)."""
        job.message = why
        self._report_or_later(job)

    def _report_or_later(self, job: SlurmJob) -> None:
        try:
            self._report(job)
        except OSError:
            self._unreported.add(job)

    def _report(self, job: SlurmJob) -> None:
        self._spool.report_job(job.number, job.fields(), job.environ)


def _is_of_another(request: HookRequest, job: SlurmJob) -> bool:
    """Whether Slurm has given the number of ``job`` to another one: it counts anew some
    day. Raises ValueError where ``request`` is of an earlier one."""
    is_first = request.do == _FIRST
    if request.uid != job.uid:
        if is_first:
            return True
        raise ValueError(f"job {job.number} is uid {job.uid}'s, not {request.uid}'s")
    if is_first and job.state in BEFORE_RUN:  # its lines differ where it counts anew
        return bool(job.lines and request.directives not in ([], job.lines))
    return is_first and request.noted_at > job.changed_at
