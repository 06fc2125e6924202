"""The ways to do a transfer, best first, and their outcomes. Other schemes than local
paths (http, scp, gsiftp, ...) are the real pegasus-transfer's work; without one we
fetch some ourselves (remote_files.py).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Container, Iterator, Mapping, Sequence

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.files import make_folder_of
from pegasus_bb.core.light_typing import TYPE_CHECKING, NamedTuple
from pegasus_bb.core.paths import plain_path
from pegasus_bb.core.process import ask, find_pegasus_transfer
from pegasus_bb.core.removal import remove
from pegasus_bb.runtime.scratch_links import put_link
from pegasus_bb.runtime.staging.failures import CopyFailed, explained
from pegasus_bb.runtime.transfers.checksums import check_digest
from pegasus_bb.runtime.transfers.scratch import Scratch
from pegasus_bb.runtime.transfers.transfer_jobs import Job, Mkdir, Remove, Transfer, Url

if TYPE_CHECKING:
    from typing import Any

_OURS = ("checksum", "image")  # keys of an entry that pegasus-transfer does not have
_WEEK = 7 * 86400.0  # the batch system's limit is the one that counts


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
    source: str  # a path, or the URL of a file of another host
    dest: str  # as the job names it
    target: str  # where the bytes are stored
    promised: bool
    hint: int = 0  # write hint: runtime/staging/hints.py

    @property
    def is_remote(self) -> bool:
        return not self.source.startswith("/")

    @property
    def checksum(self) -> str:
        """The declared one; empty if there is none."""
        return self.attempt.job.checksum

    def is_same_copy(self, other: Way) -> bool:
        """Whether one copy, and one line in the manifest, serve both."""
        job = self.attempt.job
        same = other.attempt.job
        wanted = (job.lfn, job.executable, job.checksum)
        also = (same.lfn, same.executable, same.checksum)
        return wanted == also and self[1:] == other[1:]

    def what(self, size: int) -> str:
        if self.target == self.dest:
            return f"{size} bytes to {self.dest}"
        return f"{size} bytes to {self.target}, linked from {self.dest}"


def ways_of(job: Transfer, schemes: Container[str]) -> tuple[tuple[Url, Url], ...]:
    """``schemes``: what we fetch of other hosts."""
    return tuple(
        (source, dest)
        for dest in job.dests
        for source in job.sources
        if dest.is_local and (source.is_local or source.scheme in schemes)
    )


def give_up(attempt: Try, schemes: Container[str]) -> Done:
    job = attempt.job
    reasons = "; ".join(attempt.reasons)
    if len(ways_of(job, schemes)) == len(job.sources) * len(job.dests):
        return Done(job, "", CopyFailed(reasons))
    return Done(job, "", NeedsOtherTool(reasons))


class NoTool(PegasusBBError):
    """No program on this machine serves the scheme of a URL."""


def hand_over(
    scratch: Scratch, jobs: list[Job], threads: int, environ: Mapping[str, str]
) -> None:
    """Let pegasus-transfer do ``jobs`` as one list. Raises NoTool, PegasusBBError."""
    tool = find_pegasus_transfer(environ)
    if not tool:
        raise NoTool(
            "no pegasus-transfer on PATH or in PEGASUS_HOME, and that is what would "
            f"do {'; '.join(_named(job) for job in jobs)}"
        )
    entries = [_entry(scratch, job) for job in jobs]
    done = ask(
        [tool, "--threads", str(threads)],
        timeout=_WEEK,
        env=_with_full_paths(environ),
        stdin=json.dumps(entries),
    )
    sys.stdout.write(done.out)
    sys.stderr.write(done.err)
    if done.status != 0:
        raise PegasusBBError(
            f"{tool} answered {done.status} for {'; '.join(_named(j) for j in jobs)}"
        )
    for job in jobs:
        _link_home(scratch, job)


def _with_full_paths(environ: Mapping[str, str]) -> dict[str, str]:
    """``environ``, in which PEGASUS_CREDENTIALS and the like name a file that came with
    the job: pegasus-plan gives its name only, and the job works in another folder."""
    came_here = environ.get("_CONDOR_SCRATCH_DIR", "")
    found = dict(environ)
    for name, value in environ.items() if came_here else ():
        path = os.path.join(came_here, value)
        if value and "/" not in value and os.path.isfile(path):
            found[name] = path
    return found


def wrong_checksums(scratch: Scratch, jobs: Sequence[Job]) -> Iterator[Done]:
    """Those of ``jobs``, which pegasus-transfer has done, that brought another file
    than the catalog declares; it is removed."""
    for job in jobs:
        if not isinstance(job, Transfer) or not job.checksum:
            continue
        for dest in job.dests if job.dests[0].is_local else ():
            path = _target(scratch, dest)
            try:
                check_digest(job.sources[0].text, path, job.checksum)
            except (PegasusBBError, OSError) as error:
                remove(path)
                yield Done(job, "", error)


def _named(job: Job) -> str:
    if isinstance(job, Transfer):
        return f"{job.lfn} ({job.sources[0].text} -> {job.dests[0].text})"
    return job.url.text


def _entry(scratch: Scratch, job: Job) -> dict[str, Any]:
    entry = {key: value for key, value in job.entry.items() if key not in _OURS}
    if isinstance(job, (Mkdir, Remove)):
        return entry
    if all(url.is_local for url in job.dests):
        remote = [url.text for url in job.sources if not url.is_local]
        entry["src_urls"] = [u for u in entry["src_urls"] if u["url"] in remote]
        entry["dest_urls"] = [
            {"site_label": url.site, "url": "file://" + _target(scratch, url)}
            for url in job.dests
        ]
    return entry


def _target(scratch: Scratch, dest: Url) -> str:
    path = plain_path(scratch.real(dest.path))
    return scratch.home(scratch.lfn_of(path)) or path


def _link_home(scratch: Scratch, job: Job) -> None:
    """A file that came to its home on the PFS is found through a link."""
    if not isinstance(job, Transfer):
        return
    for dest in job.dests:
        if not dest.is_local:
            continue
        path = plain_path(scratch.real(dest.path))
        home = scratch.home(scratch.lfn_of(path))
        if home and os.path.exists(home):
            make_folder_of(path)
            put_link(path, home)
