"""Slurm's part of the site's service: handles what is in the spool."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Callable

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.stager.messages import complain, message_of
from pegasus_bb.stager.nodes.node_staging import Nodes
from pegasus_bb.stager.service import Service
from pegasus_bb.stager.slurm.buffers import Buffer, Buffers
from pegasus_bb.stager.slurm.granted_space import Pools
from pegasus_bb.stager.slurm.job import SlurmJob
from pegasus_bb.stager.slurm.job_life import Jobs
from pegasus_bb.stager.slurm.job_storage import JobStorage
from pegasus_bb.stager.slurm.questions import Questions
from pegasus_bb.stager.slurm.slurm_config import SlurmConfig
from pegasus_bb.stager.slurm.space_folders import Trash
from pegasus_bb.stager.slurm.spool import STATUS, HookRequest, Spool
from pegasus_bb.stager.slurm.squeue import Queue, read_queue
from pegasus_bb.stager.store import Records

_LOOK = 1.0  # seconds between two looks where no bell rang
_BEAT = 2.0  # seconds between two signs of life
_TIDY = 60.0  # seconds between two tries to save what is kept
_ASK = 0.5  # of that time until squeue is asked again; it knows a job for 300 s more


class Attendant:
    """Runs in the event loop of the service."""

    def __init__(
        self, config: SlurmConfig, service: Service, loop: asyncio.AbstractEventLoop
    ) -> None:
        """Goes on where an earlier one has stopped. Raises OSError, UsageError."""
        self._loop, self._pools_text = loop, ""
        self._spool = Spool(config.spool, config.uid)
        self._service = service
        trash = Trash(loop, config.pools, self._removed)
        files = Records(service.store, SlurmJob)
        stored = Records(service.store, Buffer)
        self._pools = pools = Pools(config.pools, trash, (files, stored))
        self._buffers = buffers = Buffers(stored, pools, trash, self._freed)
        self._nodes = nodes = Nodes(config.nodes, self._spool, service, files)
        storage = JobStorage(service.spaces, pools, buffers, trash, nodes, files)
        self._jobs = Jobs(self._spool, storage)

        def trouble() -> str:
            is_paused = service.dispatch.is_paused
            return service.store.trouble or ("it is paused" * is_paused)

        self._questions = Questions(buffers, self._jobs, pools, nodes, trouble)
        self._often = min(_LOOK, config.nodes.poll) if config.nodes else _LOOK
        # What is done now and then: seconds between two times, and the last one.
        self._chores = {
            self._spool.beat: _BEAT,
            self._buffers.resume: _TIDY,
            self._jobs.tidy: _TIDY,
            self._ask_squeue: _ASK * _TIDY,
        }
        self._done_at = dict.fromkeys(self._chores, 0.0)
        self._timer = loop.call_soon(self._begin)
        loop.add_reader(self._spool.doorbell, self._look)

    def close(self) -> None:
        """Handle no more; every state is on disk."""
        self._timer.cancel()
        self._loop.remove_reader(self._spool.doorbell)
        _try(self._spool.end)

    def _begin(self) -> None:
        _try(self._buffers.resume)
        _try(self._jobs.resume)
        self._tick()

    def _tick(self) -> None:
        self._timer = self._loop.call_later(self._often, self._tick)
        self._look()
        _try(self._nodes.look)
        now = self._loop.time()
        for chore, seconds in self._chores.items():
            if now - self._done_at[chore] >= seconds:
                self._done_at[chore] = now
                _try(chore)

    def _ask_squeue(self) -> None:
        if self._jobs.may_be_over:
            asking = self._loop.run_in_executor(None, read_queue)
            asking.add_done_callback(self._give_up)

    def _give_up(self, asked: asyncio.Future[Queue | None]) -> None:
        queue = asked.result()
        if queue is not None:
            self._look()  # what was noted before squeue answered
            _try(lambda: self._jobs.give_up(queue, self._spool.noted_jobs()))

    def _look(self) -> None:
        _try(self._handle_all)
        _try(self._jobs.report_unreported)
        _try(self._report_pools)

    def _handle_all(self) -> None:
        late: set[int] = set()  # jobs whose next note waits for the one before it
        for request in self._spool.requests():
            if request.job not in late and not self._handle(request) and request.job:
                late.add(request.job)

    def _handle(self, request: HookRequest) -> bool:
        """Return False where the request cannot be done now, and stays for the next
        look. One that makes no sense keeps none of the others waiting."""
        try:
            if request.do == STATUS:
                answer = self._questions.answer(request)
                _try(self._report_pools)
                self._spool.answer(request, answer)
            else:
                self._jobs.handle_request(request)
                self._spool.forget(request.token)
        except OSError as error:
            complain(f"{request.token}: {message_of(error)}")
            return False
        except Exception as error:
            ours = isinstance(error, (ValueError, PegasusBBError))
            why = str(error) if ours else repr(error)
            complain(f"{request.token}: {why}")
            _try(partial(self._refuse, request, why))
        return True

    def _refuse(self, request: HookRequest, why: str) -> None:
        if request.do == "pre_run":  # it may wait for an answer
            self._spool.answer_job(request.job, request.token, why)
        self._spool.forget(request.token)

    def _removed(self, pool: str) -> None:
        self._service.discards.freed(pool)
        self._freed()

    def _freed(self) -> None:
        self._buffers.grant_waiting()
        self._jobs.retry()
        _try(self._report_pools)

    def _report_pools(self) -> None:
        text = self._pools.for_slurm()
        if text != self._pools_text:
            self._spool.report_pools(text)
            self._pools_text = text


def _try(step: Callable[[], None]) -> None:
    """What the disk does not take now is done at a later tick."""
    try:
        step()
    except OSError as error:
        complain(message_of(error))
