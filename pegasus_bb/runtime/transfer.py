"""Do a job list as pegasus-transfer does, with nothing lost on the way.

Stands in the place of pegasus::transfer, ::dirmanager and ::cleanup on the site. Files
are copied by the mover or linked, as bb/placement.json says; promised results get a
line in bb/manifest.jsonl once they are whole and durable. One job that fails does not
stop the others; all failures are listed at the end, and the answer is then 1.
"""

from __future__ import annotations

import io
import os
import re
import sys
from typing import (
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Union,
)

from pegasus_bb.errors import PegasusBBError, UsageError
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.results_guard import ResultsGuard
from pegasus_bb.runtime.scratch_root import Roots
from pegasus_bb.runtime.transfers.copies import Copies
from pegasus_bb.runtime.transfers.files import Transfers
from pegasus_bb.runtime.transfers.folders import Remover, make_folder
from pegasus_bb.runtime.transfers.inputs import Inputs
from pegasus_bb.runtime.transfers.jobs import Job, Mkdir, Remove, Transfer, read_jobs
from pegasus_bb.runtime.transfers.other import hand_over
from pegasus_bb.runtime.transfers.scratch import Scratch
from pegasus_bb.runtime.transfers.ways import Done, NeedsOtherTool
from pegasus_bb.staging.failures import explained

# More copiers only fight for the disk.
_MOST_THREADS = 4
_NUMBER = re.compile("[0-9]{1,9}")
_VALUES = {"-n": "threads", "--threads": "threads", "-f": "file", "--file": "file"}
_VALUES.update({"-m": "max-attempts", "--max-attempts": "max-attempts"})
_FLAGS = {"-s": "symlink", "--symlink": "symlink", "-d": "debug", "--debug": "debug"}


Folders = Union[Mkdir, Remove]


class Failure(NamedTuple):
    """A job that was not done, and why."""

    job: Job
    why: str


def main(argv: Optional[Sequence[str]] = None) -> int:
    """``transfer [--threads N]`` with a job list on stdin: 0, or 1 where one failed."""
    # A name that is no text must not stop the report of all others.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        options = parse_options(list(sys.argv[1:] if argv is None else argv))
        jobs = read_jobs(_text(options.get("file", "")))
        return run(BBDir.of_this_program(), jobs, options, dict(os.environ))
    except PegasusBBError as error:
        print(f"transfer: {error}", file=sys.stderr)
        return error.exit_code


def parse_options(words: List[str]) -> Dict[str, str]:
    """pegasus-transfer's options, by their long names. Raises UsageError."""
    options: Dict[str, str] = {}
    while words:
        word, equals, value = words.pop(0).partition("=")
        if word in _FLAGS and not equals:
            options[_FLAGS[word]] = "yes"
        elif word in _VALUES and (equals or words):
            options[_VALUES[word]] = value if equals else words.pop(0)
        else:
            raise UsageError(
                f"{word!r} is not an option of pegasus-transfer, or has no value; "
                "there are --threads N, --file NAME, --max-attempts N, --symlink, "
                "--debug"
            )
    for name in ("threads", "max-attempts"):
        if not options.get(name, "0").isdigit():
            raise UsageError(f"--{name} {options[name]!r} is not a whole number")
    return options


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
    bb: BBDir, jobs: List[Job], options: Mapping[str, str], environ: Dict[str, str]
) -> int:
    """Do every job of the list that can be done: 0, or 1 where one failed."""
    scratch = Scratch.of(bb, environ)
    uuid = bb.request().uuid if bb.has_request else ""
    inputs = Inputs(bb)
    roots = Roots.of(bb, [scratch.root, scratch.pfs_root])
    threads = _threads(options, environ)
    manifest_path = bb.file("manifest.jsonl")
    copies = Copies(roots, scratch.prefix, manifest_path, uuid, threads)
    transfers = Transfers(scratch, inputs, copies, "symlink" in options)
    keep = [bb.path, environ.get("HOME") or "/"]
    guard = ResultsGuard(bb, scratch.prefix).why_unsafe
    remover = Remover(scratch, roots, inputs, guard, keep)
    failures: List[Failure] = []
    others: List[Job] = []
    for stretch in _stretches(jobs):
        moves = [job for job in stretch if isinstance(job, Transfer)]
        _sort_out(transfers.move(moves), failures, others)
        folders = [job for job in stretch if not isinstance(job, Transfer)]
        _sort_out(_folders(scratch, roots, remover, folders), failures, others)
        _other(scratch, others, threads, environ, failures)
        others.clear()
    return _report(jobs, failures)


def _threads(options: Mapping[str, str], environ: Mapping[str, str]) -> int:
    asked = options.get("threads", "0")
    if asked == "0":
        asked = environ.get("PEGASUS_TRANSFER_THREADS", "")
    return max(1, min(_MOST_THREADS, int(asked) if _NUMBER.fullmatch(asked) else 2))


def _stretches(jobs: List[Job]) -> List[List[Job]]:
    """Neighbours of one kind together; the kinds stay in the order of the list."""
    found: List[List[Job]] = []
    for job in jobs:
        if found and type(found[-1][0]) is type(job):
            found[-1].append(job)
        else:
            found.append([job])
    return found


def _folders(
    scratch: Scratch, roots: Roots, remover: Remover, jobs: List[Folders]
) -> Iterator[Done]:
    """mkdir and remove, one after the other as the list has them."""
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


def _sort_out(done: Iterable[Done], failures: List[Failure], others: List[Job]) -> None:
    for each in done:
        if each.error is None:
            print(each.what, flush=False)
        elif isinstance(each.error, NeedsOtherTool):
            others.append(each.job)
        elif isinstance(each.error, OSError):
            failures.append(Failure(each.job, str(_explained(each.job, each.error))))
        else:
            failures.append(Failure(each.job, str(each.error)))


def _explained(job: Job, error: OSError) -> PegasusBBError:
    if isinstance(job, Transfer):
        return explained(error, job.sources[0].text, job.dests[0].text)
    return PegasusBBError(f"{error.filename or job.url.text}: {error.strerror}")


def _other(
    scratch: Scratch,
    jobs: List[Job],
    threads: int,
    environ: Mapping[str, str],
    failures: List[Failure],
) -> None:
    if not jobs:
        return
    try:
        hand_over(scratch, jobs, threads, environ)
    except (PegasusBBError, OSError) as error:
        failures.extend(Failure(job, str(error)) for job in jobs)


def _report(jobs: List[Job], failures: List[Failure]) -> int:
    print(f"{len(jobs) - len(failures)} of {len(jobs)} jobs of the list done")
    sys.stdout.flush()
    for failure in failures:
        kind = {Transfer: "transfer", Mkdir: "mkdir", Remove: "remove"}
        print(f"transfer: {kind[type(failure.job)]}: {failure.why}", file=sys.stderr)
    return 1 if failures else 0
