"""Results of job reservations whose stage-out failed: their run, how to discard them.

After the job has ended, each system keeps them in its own way: DataWarp in the job's
space, which Slurm lists; the staging service of slurm-lua in a list of its own, because
Slurm forgets the job.
"""

from __future__ import annotations

import shutil
import time
from abc import ABC, abstractmethod

from pegasus_bb.core.errors import PegasusBBError, ReservationFailed
from pegasus_bb.model.backends import KINDS
from pegasus_bb.runtime.backends import slurm_lua
from pegasus_bb.runtime.backends.slurm import Slurm

# seconds
_POLL = 1.0
_PATIENCE = 60.0


class UnstagedResults(ABC):
    """Results by Slurm's job number. Methods raise SchedulerUnreachable."""

    # for a sentence, for a table
    keeper = "Slurm"
    label = "Slurm"

    @abstractmethod
    def are_destined_for(self, job: str, folder: str) -> bool:
        """Whether their destination is ``folder``. Slurm may reuse a job number, so
        this identifies their run."""

    @abstractmethod
    def discard(self, job: str) -> None:
        """Remove them and wait for that. Raises ReservationFailed if they stay."""

    @abstractmethod
    def discard_command(self, job: str) -> str:
        """The command with which their user discards them."""

    @abstractmethod
    def advice(self, job: str, source: str) -> str:
        """Lines for a person: where they are, and what to do."""

    def reason(self, job: str) -> str:
        """Why the stage-out failed, as far as is known. Does not raise."""
        if shutil.which("scontrol") is None:
            return "nothing, for there is no scontrol here"
        try:
            return self._reason(job)
        except PegasusBBError as error:
            return str(error)

    def _reason(self, job: str) -> str:
        shown = Slurm({}).job(job)
        if shown is None:
            return "it does not know that job any more"
        buffer = shown.fields.get("BurstBufferState", "")
        state = f"{shown.native}, its buffer {buffer}" if buffer else shown.native
        return f"{state}: {shown.message or 'no reason given'}"


class KeptByDataWarp(UnstagedResults):
    """The job stays in Slurm's queue, with its space."""

    def are_destined_for(self, job: str, folder: str) -> bool:
        shown = Slurm({}).job(job)
        directives = shown.fields.get("BurstBuffer", "") if shown else ""
        return f"destination={folder}" in directives.split()

    def discard(self, job: str) -> None:
        slurm = Slurm({})
        until = time.monotonic() + _PATIENCE
        slurm.cancel(job, "--hurry")
        while any(row.job == job for row in slurm.plugin().jobs):
            if time.monotonic() > until:
                raise ReservationFailed(
                    f"job {job} keeps its space, after `{self.discard_command(job)}` "
                    f"too: `scontrol show job {job}` says why"
                )
            time.sleep(_POLL)

    def discard_command(self, job: str) -> str:
        return f"scancel --hurry {job}"

    def advice(self, job: str, source: str) -> str:
        return (
            f"  still in: {source} of job {job}: Slurm keeps the job's space\n"
            "  mend:     what Slurm says, with an administrator; or "
            f"`{self.discard_command(job)}` drops it"
        )


class KeptByService(UnstagedResults):
    """The staging service keeps them, and retries each minute."""

    keeper = "the staging service"
    label = "service"

    def are_destined_for(self, job: str, folder: str) -> bool:
        rows = slurm_lua.kept_results(job)
        return bool(rows) and all(folder in row["dests"] for row in rows)

    def discard(self, job: str) -> None:
        slurm_lua.discard_results(job)

    def discard_command(self, job: str) -> str:
        return f"scontrol show bbstat discard job={job}"

    def advice(self, job: str, source: str) -> str:
        return (
            f"  still in: {source} of job {job}: the staging service keeps it, and "
            "tries again each minute\n"
            "  mend:     what it says (`scontrol show bbstat list`, under kept); or "
            f"`{self.discard_command(job)}` drops it"
        )

    def _reason(self, job: str) -> str:
        rows = slurm_lua.kept_results(job)
        return str(rows[-1]["message"]) if rows else super()._reason(job)


def unstaged_results(backend: str) -> UnstagedResults:
    """The results of ``backend``, which is of Slurm."""
    return KeptByService() if KINDS[backend].cleans_up else KeptByDataWarp()
