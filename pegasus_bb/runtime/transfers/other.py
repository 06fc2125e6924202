"""Other schemes (http, scp, gsiftp, ...): the real pegasus-transfer's work."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from typing import Any

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.paths import plain_path
from pegasus_bb.core.process import ask
from pegasus_bb.runtime.links import put_link
from pegasus_bb.runtime.transfers.scratch import Scratch
from pegasus_bb.runtime.transfers.transfer_jobs import Job, Mkdir, Remove, Transfer, Url

_WEEK = 7 * 86400.0  # the batch system's limit is the one that counts


class NoTool(PegasusBBError):
    """No program on this machine serves the scheme of a URL."""


def find_tool(environ: Mapping[str, str]) -> str:
    """The real pegasus-transfer, or nothing."""
    home = environ.get("PEGASUS_HOME")
    folders = [environ.get("PATH") or "", f"{home}/bin" if home else ""]
    path = os.pathsep.join(folder for folder in folders if folder)
    return shutil.which("pegasus-transfer", path=path) or ""


def hand_over(
    scratch: Scratch, jobs: list[Job], threads: int, environ: Mapping[str, str]
) -> None:
    """Let pegasus-transfer do ``jobs`` as one list. Raises NoTool, PegasusBBError."""
    tool = find_tool(environ)
    if not tool:
        raise NoTool(
            "no pegasus-transfer on PATH or in PEGASUS_HOME, and that is what would "
            f"do {'; '.join(_named(job) for job in jobs)}"
        )
    entries = [_entry(scratch, job) for job in jobs]
    done = ask(
        [tool, "--threads", str(threads)],
        timeout=_WEEK,
        env=environ,
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


def _named(job: Job) -> str:
    if isinstance(job, Transfer):
        return f"{job.lfn} ({job.sources[0].text} -> {job.dests[0].text})"
    return job.url.text


def _entry(scratch: Scratch, job: Job) -> dict[str, Any]:
    entry = dict(job.entry)
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
            os.makedirs(os.path.dirname(path), exist_ok=True)
            put_link(path, home)
