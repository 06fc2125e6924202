"""Results that were not saved when Slurm gave their job up: kept, and tried again."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import partial
from typing import Any

from pegasus_bb.core.units import abbreviate
from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.stager.messages import complain, message_of
from pegasus_bb.stager.slurm.job import GONE, KEPT, SlurmJob
from pegasus_bb.stager.slurm.job_storage import JobStorage

_SHOWN = 20  # destinations of one job


@dataclass(frozen=True)
class KeptResults:
    """Results of jobs that Slurm has forgotten, until they are saved or dropped."""

    storage: JobStorage

    @property
    def jobs(self) -> list[SlurmJob]:
        """Also those of which only the removal is left."""
        return [job for job in self.storage.files.all() if job.state in (KEPT, GONE)]

    def keep(self, job: SlurmJob) -> None:
        """Keep ``job`` from now on; copies under way go on. Raises OSError."""
        self.storage.files.save(job, state=KEPT)
        self._report(job, job.message or "it ended before its results were saved")
        self._save_results(job)

    def retry(self) -> None:
        """Try to save what is kept, if that is not under way; drop the rest of what was
        dropped."""
        for job in self.jobs:
            if job.state == GONE:
                self._copied(job, [])
            elif not self.storage.nodes.is_copying(job):
                self._save_results(job)

    def as_json(self, uid: int) -> list[dict[str, Any]]:
        """Return what user ``uid`` may see: those of jobs of his own, and root all."""
        return [
            {
                "job": job.number,
                "uid": job.uid,
                "size": job.size,
                "created": job.noted_at,
                "path": self.storage.path(job),
                "nodes": self.storage.nodes.of(job),
                "dests": [dest for _, dest in job.directives.stage_out[:_SHOWN]],
                "message": job.message,
            }
            for job in self._of(uid)
        ]

    def discard(self, uid: int, number: int) -> int:
        """Drop what is kept of the user's job; return how many buffers. Raises Refused,
        OSError."""
        found = [job for job in self._of(uid) if job.number == number]
        if not found:
            raise Refused("not-kept", f"you have no kept results of job {number}")
        for job in found:
            self._drop(job)
        return len(found)

    def _of(self, uid: int) -> list[SlurmJob]:
        return [job for job in self.jobs if uid in (0, job.uid)]

    def _save_results(self, job: SlurmJob) -> None:
        try:
            places = self.storage.resolve(job, job.directives.stage_out)
            self.storage.nodes.copy(job, places, None, partial(self._copied, job))
        except (Refused, OSError) as error:
            self._report(job, message_of(error))

    def _copied(self, job: SlurmJob, why: list[str], later: str = "") -> None:
        if why or later:
            self._report(job, later or abbreviate(why))
            return
        try:
            self._drop(job)
        except OSError as error:
            job.message = message_of(error)

    def _report(self, job: SlurmJob, message: str) -> None:
        if job.message == message:
            return
        complain(f"job {job.number} of uid {job.uid}: its results are kept: {message}")
        job.message = message
        with contextlib.suppress(OSError):  # the words only
            self.storage.files.save(job)

    def _drop(self, job: SlurmJob) -> None:
        """The record says it first: results that would be saved again might be those of
        a later job in a folder of the same name. Raises OSError; ``retry`` goes on."""
        self.storage.files.save(job, state=GONE)
        self.storage.end(job)
