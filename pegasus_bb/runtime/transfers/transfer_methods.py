"""The ways to do a transfer, best first, and their outcomes."""

from __future__ import annotations

from typing import NamedTuple

from pegasus_bb.runtime.staging.failures import CopyFailed, explained
from pegasus_bb.runtime.transfers.transfer_jobs import Job, Transfer, Url


class NeedsOtherTool(Exception):
    """The local sources failed, and another source needs another tool."""


class Done(NamedTuple):
    job: Job
    what: str
    error: Exception | None = None


class Try(NamedTuple):
    """A transfer, its remaining ways, and the reasons why earlier ones failed."""

    job: Transfer
    ways: tuple[tuple[Url, Url], ...]  # source, destination
    reasons: tuple[str, ...] = ()

    def failed(self, error: Exception) -> Try:
        """The try without its first way, which failed."""
        source, dest = self.ways[0]
        if isinstance(error, OSError):
            error = explained(error, source.path, dest.path)
        return Try(self.job, self.ways[1:], (*self.reasons, str(error)))


class Way(NamedTuple):
    attempt: Try
    source: str
    dest: str  # as the job names it
    target: str  # where the bytes are stored
    promised: bool
    hint: int = 0  # write hint: runtime/staging/hints.py

    def is_same_copy(self, other: Way) -> bool:
        """Whether one copy, and one line in the manifest, serve both."""
        job = self.attempt.job
        same = other.attempt.job
        wanted = (job.lfn, job.executable) == (same.lfn, same.executable)
        return wanted and self[1:] == other[1:]

    def what(self, size: int) -> str:
        if self.target == self.dest:
            return f"{size} bytes to {self.dest}"
        return f"{size} bytes to {self.target}, linked from {self.dest}"


def ways_of(job: Transfer) -> tuple[tuple[Url, Url], ...]:
    pairs = ((source, dest) for dest in job.dests for source in job.sources)
    return tuple(pair for pair in pairs if all(url.is_local for url in pair))


def give_up(attempt: Try) -> Done:
    job = attempt.job
    reasons = "; ".join(attempt.reasons)
    if all(url.is_local for url in job.sources + job.dests):
        return Done(job, "", CopyFailed(reasons))
    return Done(job, "", NeedsOtherTool(reasons))
