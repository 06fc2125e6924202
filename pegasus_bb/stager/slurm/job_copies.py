"""The copies of a job, done by the service as the job's user."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from typing import Any, Callable

from pegasus_bb.runtime.stager_client.dataspace import Dataspaces, parse_place
from pegasus_bb.runtime.stager_client.protocol import Refused, encode
from pegasus_bb.runtime.stager_client.task import (
    CANCELLED,
    COPY,
    DONE,
    FAILED,
    PENDING,
    StagerTask,
)
from pegasus_bb.stager.service import Service
from pegasus_bb.stager.slurm.directives import PlacePair
from pegasus_bb.stager.slurm.job import SlurmJob
from pegasus_bb.stager.store import Change, Records

# Gets why some copies are not done; none: all are. And why nothing was begun, where
# asking again will do.
Ended = Callable[[list[str], str], None]
PlacePairs = Sequence[PlacePair]
_LATER = ("draining", "busy", "not-durable")  # codes of what is no fault of the job


class JobCopies:
    """Submits tasks in-process; their numbers are in the record of their job."""

    def __init__(self, service: Service, files: Records[Any]) -> None:
        self._service, self._files = service, files
        self._batches: dict[SlurmJob, list[StagerTask]] = {}

    def copy(
        self, job: SlurmJob, places: PlacePairs, deadline: int | None, ended: Ended
    ) -> None:
        """Copy each (source, dest) of ``places``; ``ended`` is called when all is over,
        unless it is cancelled. A copy that an earlier call has begun or done is not
        begun again."""
        batch = self._batches[job] = self._known(job, places)
        self.move_deadline(job, deadline)
        found = {(task.source, task.dest) for task in batch}
        terms = {"deadline": deadline} if deadline else {}
        specs: list[dict[str, Any]] = [
            {"kind": COPY, "source": source, "dest": dest, **terms}
            for source, dest in places
            if (source, dest) not in found
        ]
        self._service.loop.create_task(self._copy(job, batch, specs, ended))

    async def _copy(
        self,
        job: SlurmJob,
        batch: list[StagerTask],
        specs: list[dict[str, Any]],
        ended: Ended,
    ) -> None:
        """Do ``specs``, too, which join ``batch``."""
        why: list[str] = []
        later = ""
        try:
            batch += await self._submitted(job, batch, specs) if specs else ()
            if self._batches.get(job) is not batch:
                self._service.cancel(batch)
            await self._service.ended(batch)
            why = _failures(batch, self._service.spaces, may_be_absent=job.has_failed)
        except Refused as refused:
            job.tasks = [task.id for task in batch]
            if refused.code in _LATER:
                later = str(refused)
            else:
                why = [str(refused)]
        if self._batches.get(job) is batch:  # else it was cancelled meanwhile
            del self._batches[job]
            ended(why, later)

    async def _submitted(
        self, job: SlurmJob, batch: list[StagerTask], specs: list[dict[str, Any]]
    ) -> list[StagerTask]:
        """The tasks of ``specs``. Their numbers are in the record of ``job`` as soon as
        they are durable. Raises Refused."""

        def numbered(numbers: range) -> Sequence[Change]:
            job.tasks = [*(task.id for task in batch), *numbers]
            return self._files.saved(job)

        raw = encode({"tasks": specs}).rstrip(b"\n")
        return await self._service.submit(job.uid, specs, raw, numbered)

    def move_deadline(self, job: SlurmJob, deadline: int | None) -> None:
        """Give copies of ``job`` that wait another deadline."""
        for task in self._batches.get(job, ()):
            if deadline and task.state == PENDING and task.terms.deadline != deadline:
                task.terms = task.terms._replace(deadline=deadline)
                self._service.dispatch.queue.add(task)

    def is_copying(self, job: SlurmJob) -> bool:
        """Tell whether copies of ``job`` are under way."""
        return job in self._batches

    def cancel(self, job: SlurmJob) -> None:
        """Stop the copies of ``job``."""
        tasks = self._batches.pop(job, [])
        self._service.cancel([task for task in tasks if not task.has_ended])

    def _known(self, job: SlurmJob, places: PlacePairs) -> list[StagerTask]:
        """The tasks of ``places`` that were accepted and have not failed."""
        tasks = [self._service.tasks.get(number) for number in job.tasks]
        mine = {
            (task.source, task.dest): task
            for task in tasks
            if task and task.uid == job.uid
        }
        found = [mine[place] for place in places if place in mine]
        return [task for task in found if task.state not in (FAILED, CANCELLED)]


def _failures(
    tasks: list[StagerTask], spaces: Dataspaces, *, may_be_absent: bool
) -> list[str]:
    """A job that has failed need not have made all of its results."""
    return [
        f"{task.source}: {'was cancelled' if task.state == CANCELLED else task.message}"
        for task in tasks
        if task.state != DONE
        and not (may_be_absent and _is_source_absent(task, spaces))
    ]


def _is_source_absent(task: StagerTask, spaces: Dataspaces) -> bool:
    """Whether the source was never made: it, or a folder above it, is missing below the
    buffer's own folder. Where that is missing, too, or anything of the destination, a
    file system may not be mounted."""
    place = parse_place(task.source, spaces)
    path, _, why = task.message.rpartition(": ")
    root = spaces[place.space].root.strip("/")
    least = min(2, len(place.parts))
    places = (place.parts[:n] for n in range(least, len(place.parts) + 1))
    paths = ["/".join((root, *parts)).lstrip("/") for parts in places]
    return why == os.strerror(errno.ENOENT) and path.lstrip("/") in paths
