"""Executes a job list instead of pegasus-transfer.

It replaces pegasus::transfer, ::dirmanager and ::cleanup on the site, copies or links
files by bb/placement.json, and notes a promised result in bb/manifest.jsonl once it is
complete and durable. A job that fails does not stop the others; all failures are listed
at the end, and the exit code is then 1.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Union

from pegasus_bb.core.errors import PegasusBBError, UsageError
from pegasus_bb.core.files import append_all
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.programs.program import new_parser
from pegasus_bb.runtime.results_guard import ResultsGuard
from pegasus_bb.runtime.scratch_root import Roots
from pegasus_bb.runtime.staging.failures import explained
from pegasus_bb.runtime.transfers.file_transfers import FileTransfers
from pegasus_bb.runtime.transfers.folder_jobs import Remover, make_folder
from pegasus_bb.runtime.transfers.protected_inputs import UserInputs
from pegasus_bb.runtime.transfers.resumed_copies import Copies
from pegasus_bb.runtime.transfers.scratch import Scratch
from pegasus_bb.runtime.transfers.transfer_jobs import (
    Job,
    Mkdir,
    Remove,
    Transfer,
    read_jobs,
)
from pegasus_bb.runtime.transfers.transfer_methods import (
    Done,
    NeedsOtherTool,
    hand_over,
    wrong_checksums,
)

_MOST_THREADS = 4  # more copiers only compete for the disk
_NUMBER = re.compile("[0-9]{1,9}")

Folders = Union[Mkdir, Remove]


def main(argv: Sequence[str] | None = None) -> int:
    """``transfer [--threads N]`` with a job list on stdin: 0, or 1 if one failed."""
    # An undecodable name must not stop the report of the others.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        options = parse_options(sys.argv[1:] if argv is None else argv)
        jobs = read_jobs(_text(options.file))
        return run(BBDir.of_this_program(), jobs, options, dict(os.environ))
    except PegasusBBError as error:
        print(f"transfer: {error}", file=sys.stderr)
        return error.exit_code


def parse_options(arguments: Sequence[str]) -> argparse.Namespace:
    """Read pegasus-transfer's options. Exits with 2 if one is unknown."""
    parser = new_parser("transfer", "Execute a job list.")
    parser.add_argument("-n", "--threads", type=int, default=0)
    parser.add_argument("-f", "--file", default="", help="the job list")
    parser.add_argument("-m", "--max-attempts", type=int, help="ignored")
    parser.add_argument("-s", "--symlink", action="store_true")
    parser.add_argument("-d", "--debug", action="store_true", help="ignored")
    return parser.parse_args(arguments)


def _text(path: str) -> str:
    try:
        if path:
            with open(path, "rb") as source:
                data = source.read()
        else:
            data = sys.stdin.buffer.read()
    except OSError as error:
        raise UsageError(f"job list {path or 'on stdin'}: {error.strerror}") from error
    return data.decode("utf-8", "surrogateescape")


def run(
    bb: BBDir, jobs: list[Job], options: argparse.Namespace, environ: dict[str, str]
) -> int:
    """Do every job of the list that can be done: 0, or 1 if one failed."""
    scratch = Scratch.of(bb, environ)
    uuid = bb.request().uuid if bb.has_request else ""
    inputs = UserInputs(bb)
    roots = Roots.of(bb, [scratch.root, scratch.pfs_root])
    threads = _threads(options.threads, environ)
    manifest_path = bb.file("manifest.jsonl")
    drains = _drains(bb, scratch.vanishing, environ)
    arguments = roots, scratch.vanishing, manifest_path, uuid, threads, drains
    copies = _copies(bb, arguments)
    remote = [job for job in jobs if isinstance(job, Transfer) and job.is_remote]
    schemes = _own_schemes(environ) if remote else ()
    transfers = FileTransfers(
        scratch, inputs, copies, links=options.symlink, schemes=schemes
    )
    keep = [bb.path, environ.get("HOME") or "/"]
    guard = ResultsGuard(bb, scratch.prefix).why_unsafe
    remover = Remover(scratch, roots, inputs, guard, keep)
    failures: list[Done] = []
    others: list[Job] = []
    for group in _groups(jobs):
        moves = [job for job in group if isinstance(job, Transfer)]
        _sort_out(transfers.move(moves), failures, others)
        folders = [job for job in group if not isinstance(job, Transfer)]
        _sort_out(_folders(scratch, roots, remover, folders), failures, others)
        _other(scratch, others, threads, environ, failures)
        others.clear()
    failed = {id(done.job) for done in failures}
    _note_sizes(bb, scratch, [job for job in remote if id(job) not in failed])
    return _report(jobs, failures)


def _note_sizes(bb: BBDir, scratch: Scratch, jobs: Iterable[Transfer]) -> None:
    """Note the sizes of files of other hosts: a later planning has them from there."""
    lines = []
    for job in jobs:
        with contextlib.suppress(PegasusBBError, OSError):  # a note that none waits for
            size = os.stat(scratch.real(job.dests[0].path)).st_size
            lines.append({"lfn": job.lfn, "size": size})
    if lines:
        with contextlib.suppress(OSError):
            append_all(bb.file("fetched.jsonl"), lines)


def _own_schemes(environ: Mapping[str, str]) -> tuple[str, ...]:
    from pegasus_bb.runtime.transfers.remote_files import own_schemes  # few lists

    return own_schemes(environ)


def _copies(bb: BBDir, arguments: tuple[Any, ...]) -> Copies:
    """The copies, through the staging service if the tier names one."""
    settings = bb.settings()
    if not settings.get("service"):
        return Copies(*arguments)
    from pegasus_bb.runtime.transfers.by_service import ServiceCopies

    return ServiceCopies(settings, *arguments)


def _drains(bb: BBDir, tier: Sequence[str], environ: Mapping[str, str]) -> Any | None:
    """How results leave the tier; None: at full speed."""
    if not os.path.exists(bb.file("drain.json")):
        return None
    from pegasus_bb.runtime.transfers.drain_transfers import (
        Drains,  # few runs are paced
    )

    return Drains(bb, tier, environ.get("PEGASUS_DAG_JOB_ID", ""))


def _threads(asked: int, environ: Mapping[str, str]) -> int:
    text = environ.get("PEGASUS_TRANSFER_THREADS", "")
    if not asked:
        asked = int(text) if _NUMBER.fullmatch(text) else 2
    return max(1, min(_MOST_THREADS, asked))


def _groups(jobs: list[Job]) -> list[list[Job]]:
    """Groups of consecutive jobs of one kind, in the order of the list."""
    groups: list[list[Job]] = []
    for job in jobs:
        if groups and type(groups[-1][0]) is type(job):
            groups[-1].append(job)
        else:
            groups.append([job])
    return groups


def _folders(
    scratch: Scratch, roots: Roots, remover: Remover, jobs: list[Folders]
) -> Iterator[Done]:
    """Do mkdir and remove jobs, in the order of the list."""
    for job in jobs:
        try:
            if not job.url.is_local:
                yield Done(job, "", NeedsOtherTool())
            elif isinstance(job, Mkdir):
                yield Done(job, make_folder(scratch, roots, job))
            else:
                yield Done(job, remover.remove(job))
        except (PegasusBBError, OSError) as error:
            yield Done(job, "", error)


def _sort_out(done: Iterable[Done], failures: list[Done], others: list[Job]) -> None:
    for each in done:
        if each.error is None:
            print(each.what, flush=False)
        elif isinstance(each.error, NeedsOtherTool):
            others.append(each.job)
        else:
            failures.append(each)


def _other(
    scratch: Scratch,
    jobs: list[Job],
    threads: int,
    environ: Mapping[str, str],
    failures: list[Done],
) -> None:
    if not jobs:
        return
    try:
        hand_over(scratch, jobs, threads, environ)
        failures.extend(wrong_checksums(scratch, jobs))
    except (PegasusBBError, OSError) as error:
        failures.extend(Done(job, "", error) for job in jobs)


def _report(jobs: list[Job], failures: list[Done]) -> int:
    print(f"{len(jobs) - len(failures)} of {len(jobs)} jobs of the list done")
    sys.stdout.flush()
    for job, _, error in failures:
        kind = {Transfer: "", Mkdir: "mkdir: ", Remove: "remove: "}[type(job)]
        print(f"transfer: {kind}{_why(job, error)}", file=sys.stderr)
    return 1 if failures else 0


def _why(job: Job, error: Exception | None) -> str:
    if not isinstance(error, OSError):
        return str(error)
    if isinstance(job, Transfer):
        return str(explained(error, job.sources[0].text, job.dests[0].text))
    return f"{error.filename or job.url.text}: {error.strerror}"
