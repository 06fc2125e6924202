"""Results that could not be staged out: whose they are, how they go, what to say.

Mode transient. Each system keeps them in its own way after the job has ended: DataWarp
in the job's space, of which Slurm knows; the staging service of slurm-lua in a list of
its own, when Slurm has forgotten the job.
"""

from __future__ import annotations

import shutil
import time
from abc import ABC, abstractmethod

from pegasus_bb.errors import PegasusBBError, ReservationFailed
from pegasus_bb.model.reservation import SLURM_LUA
from pegasus_bb.reservation import slurm_lua
from pegasus_bb.reservation.slurm import Slurm

_POLL, _PATIENCE = 1.0, 60.0  # seconds


class UnstagedResults(ABC):
    """Those of jobs by Slurm's number. Methods raise SchedulerUnreachable."""

    keeper, label = "Slurm", "Slurm"  # in a sentence, before a line

    @abstractmethod
    def go_to(self, job: str, folder: str) -> bool:
        """Whether they were to be staged out to ``folder``. Slurm gives a number once
        more some day, so this tells whose they are."""

    @abstractmethod
    def drop(self, job: str) -> None:
        """Back when they are gone. Raises ReservationFailed where they stay."""

    @abstractmethod
    def drop_command(self, job: str) -> str:
        """What their user types to drop them."""

    @abstractmethod
    def advice(self, job: str, source: str) -> str:
        """Lines for a person: where they are, and what to do."""

    def reason(self, job: str) -> str:
        """Why they are not staged out, as far as is known; nothing is raised."""
        if shutil.which("scontrol") is None:
            return "nothing, for there is no scontrol here"
        try:
            return self._reason(job)
        except PegasusBBError as error:
            return str(error)

    def _reason(self, job: str) -> str:
        found = Slurm({}).job(job)
        if found is None:
            return "it does not know that job any more"
        buffer = found.fields.get("BurstBufferState", "")
        state = f"{found.native}, its buffer {buffer}" if buffer else found.native
        return f"{state}: {found.message or 'no reason given'}"


class KeptByDataWarp(UnstagedResults):
    """The job stays in Slurm's queue, with its space."""

    def go_to(self, job: str, folder: str) -> bool:
        found = Slurm({}).job(job)
        directives = found.fields.get("BurstBuffer", "") if found else ""
        return f"destination={folder}" in directives.split()

    def drop(self, job: str) -> None:
        slurm, until = Slurm({}), time.monotonic() + _PATIENCE
        slurm.cancel(job, "--hurry")
        while any(row.job == job for row in slurm.plugin().jobs):
            if time.monotonic() > until:
                raise ReservationFailed(
                    f"job {job} keeps its space, after `{self.drop_command(job)}` too: "
                    f"`scontrol show job {job}` says why"
                )
            time.sleep(_POLL)

    def drop_command(self, job: str) -> str:
        return f"scancel --hurry {job}"

    def advice(self, job: str, source: str) -> str:
        return (
            f"  still in: {source} of job {job}: Slurm keeps the job's space\n"
            "  mend:     what Slurm says, with an administrator; or "
            f"`{self.drop_command(job)}` drops it"
        )


class KeptByService(UnstagedResults):
    """The staging service has them, and tries again each minute."""

    keeper, label = "the staging service", "service"

    def go_to(self, job: str, folder: str) -> bool:
        found = slurm_lua.kept_results(job)
        return bool(found) and all(folder in row["dests"] for row in found)

    def drop(self, job: str) -> None:
        slurm_lua.discard_results(job)

    def drop_command(self, job: str) -> str:
        return f"scontrol show bbstat discard job={job}"

    def advice(self, job: str, source: str) -> str:
        return (
            f"  still in: {source} of job {job}: the staging service keeps it, and "
            "tries again each minute\n"
            "  mend:     what it says (`scontrol show bbstat list`, under kept); or "
            f"`{self.drop_command(job)}` drops it"
        )

    def _reason(self, job: str) -> str:
        found = slurm_lua.kept_results(job)
        return str(found[-1]["message"]) if found else super()._reason(job)


def unstaged_results(backend: str) -> UnstagedResults:
    """Those of that backend, one of SLURM_BACKENDS."""
    return KeptByService() if backend == SLURM_LUA else KeptByDataWarp()
