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
from pegasus_bb.stager.nodes.node_staging import Nodes
from pegasus_bb.stager.slurm.buffers import Buffers
from pegasus_bb.stager.slurm.hook_request import HookRequest
from pegasus_bb.stager.slurm.job import (
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
    JobFiles,
    SlurmJob,
)
from pegasus_bb.stager.slurm.job_copies import JobCopies
from pegasus_bb.stager.slurm.job_ends import Ends, holds_space, may_be_over
from pegasus_bb.stager.slurm.job_states import Queue
from pegasus_bb.stager.slurm.job_storage import JobStorage
from pegasus_bb.stager.slurm.kept_results import KeptResults
from pegasus_bb.stager.slurm.spool import Spool

# Seconds after which Slurm has forgotten a job in one of these states. All that one has
# made is saved then, or cannot be.
_FORGOTTEN = {STAGED_OUT: 30.0, FAILED_OUT: 600.0}
_NO_ROOM = "it waits for room in its pool"
_FIRST = "data_in"  # the hook that begins a life
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Jobs:
    """Heeds the notes of hooks."""

    def __init__(
        self,
        spool: Spool,
        files: JobFiles,
        storage: JobStorage,
        buffers: Buffers,
        transfers: JobCopies,
        nodes: Nodes,
    ) -> None:
        """Knows what an earlier service knew. Raises OSError, UsageError."""
        self._spool, self._files, self._storage = spool, files, storage
        self._buffers, self._transfers = buffers, transfers
        self._nodes = nodes
        self.kept = KeptResults(files, storage, transfers)
        self._jobs: dict[int, SlurmJob] = {}
        self._unreported: set[SlurmJob] = set()  # the hooks do not know their state yet
        self._ends = Ends()
        for job in files.read():
            storage.restore(job)
            if job.state in (KEPT, GONE):
                self.kept.restore(job)
            else:
                self._jobs[job.number] = job
        self._steps: dict[str, Callable[[SlurmJob], None]] = {
            "data_in": self._stage_in,
            "pre_run": self._run,
            "data_out": self._stage_out,
            "teardown": self._tear_down,
        }

    def resume(self) -> None:
        """Do what an earlier service was at; tell the hooks what it could not tell."""
        try:
            for job in list(self._jobs.values()):
                self._tell_or_later(job)
                self._nodes.resume(job, partial(self._on_nodes, job))
                self._go_on_copying(job)
            self.kept.retry()
        finally:
            self._transfers.forget_earlier()
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
                    self._nodes.answer(request, "the staging service does not know it")
                # Torn down before Slurm was started again: all is safe or kept.
                self._spool.tell_job(request.job, {"state": GONE}, ())
                self._spool.heard(request.job)
                return
            job = self._jobs[request.job] = SlurmJob(
                request.job, request.uid, request.gid
            )
        planned = job.start_time
        changed_at = job.changed_at
        job.hear(request)
        if job.state == STAGING_IN and job.start_time != planned:
            self._files.save(job)
            self._transfers.move_deadline(job, job.start_time)
            self._tell_or_later(job)
        if request.do == "pre_run" and "BB_NODE" in job.environ:
            self._stage_nodes(job, request)
            return
        self._steps[request.do](job)
        if request.do in ("data_in", "data_out"):
            if job.changed_at == changed_at or job in self._unreported:
                self._tell(job)
            self._spool.heard(job.number)

    def tell_again(self) -> None:
        """Tell the hooks what could not be told: a job whose state they do not know
        waits for ever. Raises OSError."""
        for job in list(self._unreported):
            if self._jobs.get(job.number) is job:
                self._tell(job)
            self._unreported.discard(job)

    def retry(self) -> None:
        """Room came back: those that wait for it may go on."""
        for job in list(self._jobs.values()):
            self._stage_in(job)

    def tidy(self) -> None:
        """Try to save what is kept, and to copy what had to wait; forget what is over.
        Now and then.

        slurmctld writes down its burst buffers every 30 s (burst_buffer_lua.c,
        AGENT_INTERVAL): killed before that, it never tears the job down. Nor does it
        where the spool takes no note for half a minute.
        """
        self.kept.retry()
        for job in list(self._jobs.values()):
            self._go_on_copying(job)
            patience = _FORGOTTEN.get(job.state)
            if patience and time.time() - job.changed_at > patience:
                self._try_to_tear_down(job)
        self._spool.forget_old_jobs(self._jobs)

    # -- those of whose end no hook has told

    @property
    def may_be_over(self) -> bool:
        """Whether squeue should be asked."""
        return any(map(may_be_over, self._jobs.values()))

    @property
    def is_space_awaited(self) -> bool:
        """Whether a job waits for room, or a buffer for its end, and others hold it,
        which may be over."""
        jobs = self._jobs.values()
        is_awaited = any(job.state == NOTED and job.lines for job in jobs)
        return (is_awaited or self._buffers.has_deleted) and any(map(holds_space, jobs))

    def give_up(self, queue: Queue, noted: Container[int]) -> None:
        """Tear down those that are over, as ``queue`` has them. ``noted``: the jobs of
        which a note of a hook is not heeded yet."""
        for job in list(self._jobs.values()):
            if self._ends.has_ended(job, queue, noted):
                complain(f"job {job.number} has ended, and Slurm has not said so")
                self._try_to_tear_down(job)

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
            places = self._storage.resolve(job, job.directives.stage_in)
            self._storage.resolve(job, job.directives.stage_out)  # before it computes
            if not places:
                self._have_nothing_staged_in(job)
                return
            self._change(job, STAGING_IN, "")
            self._transfers.copy(
                job,
                places,
                job.start_time,
                lambda why: self._staged_in(job, why),
                lambda why: self._wait(job, why),
            )
        except (Refused, OSError) as error:
            self._fail(job, FAILED_IN, error)

    def _have_nothing_staged_in(self, job: SlurmJob) -> None:
        """Its own buffer is on record, if it has one; use of others has to be."""
        if job.folder and not job.buffers:
            self._change_in_memory(job, STAGED_IN)
            self._tell_or_later(job)
        else:
            self._staged_in(job, [])

    def _go_on_copying(self, job: SlurmJob) -> None:
        """Begin once more what is not under way: the service was killed, or took no
        task then, or its disk was full."""
        if self._transfers.is_copying(job):
            return
        if job.state == NOTED:
            self._stage_in(job)
        elif job.state == STAGING_IN:
            self._begin_stage_in(job)
        elif job.state == STAGING_OUT:
            self._begin_stage_out(job)

    def _staged_in(self, job: SlurmJob, why: list[str]) -> None:
        try:
            self._change(job, FAILED_IN if why else STAGED_IN, abbreviate(why))
        except OSError as error:
            self._wait(job, message_of(error))
            return
        job.tasks = []

    def _run(self, job: SlurmJob) -> None:
        if job.state == STAGED_IN:
            self._change(job, RUNNING)

    def _stage_nodes(self, job: SlurmJob, request: HookRequest) -> None:
        """pre_run waits; Slurm tears the job down where it fails. Raises OSError."""
        try:
            places = self._storage.resolve(job, job.directives.stage_in)
            self._nodes.stage_in(job, request, places, partial(self._on_nodes, job))
        except (Refused, ValueError) as error:
            self._nodes.answer(request, str(error))

    def _on_nodes(self, job: SlurmJob, _: list[str]) -> None:
        """All is there: pre_run succeeds when this returns."""
        self._run(job)

    def _stage_out(self, job: SlurmJob) -> None:
        if job.state not in (STAGING_OUT, STAGED_OUT):
            self._begin_stage_out(job)

    def _begin_stage_out(self, job: SlurmJob) -> None:
        try:
            if not job.directives.wants_more:
                self._change_in_memory(job, STAGED_OUT)  # its hooks ask no more
                return
            places = self._storage.resolve(job, job.directives.stage_out)
            if not places:
                self._staged_out(job, [])
                return
            self._change(job, STAGING_OUT, "")
            self._transfers.copy(
                job,
                places,
                None,
                lambda why: self._staged_out(job, why),
                lambda why: self._wait(job, why),
            )
        except (Refused, OSError) as error:
            self._fail(job, FAILED_OUT, error)

    def _staged_out(self, job: SlurmJob, why: list[str]) -> None:
        try:
            if why:
                raise Refused("not-copied", abbreviate(why))
            if not job.has_failed:
                self._share_and_delete(job)
            self._change(job, STAGED_OUT, "")
        except (Refused, OSError) as error:
            self._fail(job, FAILED_OUT, error)

    def _share_and_delete(self, job: SlurmJob) -> None:
        for share in job.directives.shares:
            self._buffers.share(job.uid, share.name, share.user, share.allowed)
        for name in job.directives.deletes:
            self._buffers.delete(job.uid, name)

    def _tear_down(self, job: SlurmJob) -> None:
        """Slurm is done with the job, or gives it up."""
        is_all_saved = job.state in (*BEFORE_RUN, STAGED_OUT)
        del self._jobs[job.number]
        try:
            if not is_all_saved and self._storage.has_results(job):
                self.kept.keep(job)
            else:
                self._transfers.cancel(job)
                self._storage.give_back(job)
                self._files.remove(job)
        except BaseException:  # the note of the hook stays for the next look
            self._jobs[job.number] = job
            raise
        self._ends.forget(job)
        self._spool.tell_job(job.number, {"state": GONE}, ())

    def _try_to_tear_down(self, job: SlurmJob) -> None:
        """Where that cannot be done now, a later look does it; other jobs do not wait
        for it."""
        try:
            self._tear_down(job)
        except OSError as error:
            complain(f"job {job.number}: {message_of(error)}")

    def _change_in_memory(self, job: SlurmJob, state: str) -> None:
        """Syncs would cost the site more than they save: a later service comes to the
        same state from the one on disk, and from what Slurm says next."""
        job.state, job.changed_at, job.message = state, time.time(), ""

    def _change(self, job: SlurmJob, state: str, message: str | None = None) -> None:
        """The record first, then the word to the hooks, which may come later. Raises
        OSError where it is not recorded."""
        before = job.state, job.changed_at, job.message
        job.state, job.changed_at = state, time.time()
        if message is not None:
            job.message = message
        try:
            self._files.save(job)
        except OSError:
            job.state, job.changed_at, job.message = before
            raise
        if state in (FAILED_IN, FAILED_OUT):
            complain(f"job {job.number} of uid {job.uid}: {state}: {job.message}")
        self._tell_or_later(job)

    def _fail(self, job: SlurmJob, state: str, error: Exception) -> None:
        """``job`` has failed; but a disk that is full is no fault of it. Called back
        by the service, so nothing is raised."""
        try:
            if isinstance(error, OSError) and error.errno in _FULL:
                raise error
            self._change(job, state, message_of(error))
        except OSError as why:
            self._wait(job, message_of(why))

    def _wait(self, job: SlurmJob, why: str) -> None:
        """It stays where it is, until it is tried again (tidy)."""
        job.message = why
        self._tell_or_later(job)

    def _tell_or_later(self, job: SlurmJob) -> None:
        try:
            self._tell(job)
        except OSError:
            self._unreported.add(job)

    def _tell(self, job: SlurmJob) -> None:
        if "BB_NODE" in job.environ:
            self._spool.hang_bell(job.number)
        environ = [f"{key}={value}" for key, value in job.environ.items()]
        self._spool.tell_job(job.number, job.fields(), environ)


def _is_of_another(request: HookRequest, job: SlurmJob) -> bool:
    """Whether Slurm has given the number of ``job`` to another one: it counts anew some
    day. Raises ValueError where ``request`` is of an earlier one."""
    if request.uid != job.uid:
        if request.do == _FIRST:
            return True
        raise ValueError(f"job {job.number} is uid {job.uid}'s, not {request.uid}'s")
    if request.do != _FIRST:
        return False
    if job.state in BEFORE_RUN:  # its lines differ where Slurm has counted anew
        return bool(job.lines and request.directives not in ([], job.lines))
    return request.noted_at > job.changed_at
