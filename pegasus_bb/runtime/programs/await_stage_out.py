"""Delays a node until its results are staged out: ``NODE JOB RETURN POST ARG...``.

The POST script of a job with a job reservation. It exits with 75, and DAGMan's DEFER
runs it again, until every result that the job noted is in the run's scratch with its
size and digest. Then, or if the job failed, it becomes POST ARG..., which decides on
the node. It checks files only: for the batch system a job can be done that still stages
out, or that has vanished.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Sequence

from pegasus_bb.core.errors import (
    DataNotSafe,
    DeadlinePassed,
    PegasusBBError,
    ReservationNotReady,
    UsageError,
)
from pegasus_bb.core.files import (
    UNREADABLE,
    make_folder_of,
    read_json,
    write_json,
    write_text,
)
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.core.process import ask
from pegasus_bb.core.units import abbreviate, format_duration
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.job_reservation.results import (
    NOTES,
    list_kept,
    note_path,
    take_note_of_traveller,
)
from pegasus_bb.runtime.job_reservation.stage_out_landing import StageOutLanding
from pegasus_bb.runtime.programs import program

if TYPE_CHECKING:
    from typing import Any, NoReturn

SILENT = 60.0  # seconds until a note of another machine is visible here
_AGAIN = "  the node: counts as failed; it can be tried again"


class TaskFailed(PegasusBBError):
    """The job's note says that its task failed."""


def main(argv: Sequence[str] | None = None) -> int:
    """75 not yet; 77 deadline; 79 ended without a note; else the exit status of
    POST."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if len(arguments) < 4 or "/" in arguments[0]:
        usage = "await_stage_out NODE JOB RETURN POST [ARG...]"
        print(f"await_stage_out: next: {usage}", file=sys.stderr)
        return UsageError.exit_code
    node, job, status, *post = arguments
    bb = BBDir.of_this_program()
    if status != "0":
        with contextlib.suppress(PegasusBBError, OSError):
            take_note_of_traveller(bb, bb.transient(), node, job)
        _become(post)
    code = program.answer(
        "await_stage_out",
        lambda: _with_error_file(bb, node, lambda: poll(bb, node, job)),
    )
    if code == 0:
        _become(post)
    if code != ReservationNotReady.exit_code:
        ask(post, timeout=600.0)  # renames the job's output; the node has failed anyway
    return code


def _become(post: list[str]) -> NoReturn:
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execv(post[0], post)  # noqa: S606 - no shell is wanted
    except OSError as error:
        sys.exit(f"await_stage_out: {post[0]} cannot be started: {error.strerror}")


def _with_error_file(bb: BBDir, node: str, work: Any) -> str:
    """The message of ``work``; an error goes to a file, because DAGMan keeps no
    output."""
    error_file = bb.file(f"{NOTES}/{node}.err")
    try:
        message = str(work())
    except (ReservationNotReady, TaskFailed):
        raise  # the node's own script reports more
    except PegasusBBError as error:
        make_folder_of(error_file)
        write_text(error_file, f"{error}\n")
        raise
    if os.path.exists(error_file):
        os.unlink(error_file)
    return message


def poll(bb: BBDir, node: str, job: str, silent: float = SILENT) -> str:
    """Check once; returns a message if all results have arrived.

    Raises ReservationNotReady (ask again), and for good: DeadlinePassed, DataNotSafe.
    """
    request = bb.transient()
    waiting = _Waiting(bb, node, job)
    take_note_of_traveller(bb, request, node, job)
    note = _note(bb, node, job)
    if note is None:
        if waiting.seconds() < min(silent, request.wait):
            waiting.resume()
            raise ReservationNotReady(f"{node}: its job {job} has noted no results yet")
        waiting.end()
        raise DataNotSafe(
            f"{node}: the batch system says that job {job} ended well, but it has "
            f"noted no results in {note_path(bb, node)}: it was killed or has "
            "vanished, or runs on. The node counts as failed; it can be tried again"
        )
    if note.get("status", 0) != 0:
        waiting.end()
        raise TaskFailed(f"{node}: its job {job} ended with {note['status']}")
    landing = StageOutLanding(request.prefix, node, job, note["files"])
    missing = landing.missing(waiting.wrong)
    if missing:
        if waiting.seconds() < request.wait:
            waiting.resume()
            raise ReservationNotReady(f"{node}: {abbreviate(list(missing.values()))}")
        waiting.end()
        if note.get("slurm"):
            list_kept(bb, node, str(note["slurm"]))
        raise DeadlinePassed(_deadline_message(node, note, missing, request))
    if request.is_all_nodes_see:
        landing.sync()  # HTCondor has written the results, and does not sync
    landing.name()
    waiting.end()
    return f"{node}: {len(note['files'])} results are back"


def _note(bb: BBDir, node: str, job: str) -> dict[str, Any] | None:
    try:
        note = read_json(note_path(bb, node))
        if str(note["job"]) == job and isinstance(note["files"], dict):
            return dict(note)
    except UNREADABLE:
        pass
    return None


class _Waiting:
    def __init__(self, bb: BBDir, node: str, job: str) -> None:
        self._path = bb.file(f"{NOTES}/{node}.wait.json")
        self._job = job
        self._since = time.time()
        self.wrong: dict[str, list[int]] = {}
        try:
            known = read_json(self._path)
            if known["job"] == job:
                self._since = float(known["since"])
                self.wrong = dict(known["wrong"])
        except UNREADABLE:
            pass

    def seconds(self) -> float:
        return max(0.0, time.time() - self._since)

    def resume(self) -> None:
        make_folder_of(self._path)
        known = {"job": self._job, "since": self._since, "wrong": self.wrong}
        write_json(self._path, known)

    def end(self) -> None:
        if os.path.exists(self._path):
            os.unlink(self._path)


def _deadline_message(
    node: str, note: dict[str, Any], missing: dict[str, str], request: Request
) -> str:
    message = (
        f"{node}: its results have not come back within "
        f"{format_duration(request.wait)}: "
        f"{abbreviate(list(missing.values()))}"
    )
    slurm = str(note.get("slurm", ""))
    if not slurm:
        return f"{message}\n  were in:  {note['source']}\n{_AGAIN}"
    from pegasus_bb.runtime.backends.unstaged import unstaged_results

    kept = unstaged_results(request.backend)
    reason = f"  {kept.label + ':':<10}{kept.reason(slurm)}"
    return f"{message}\n{reason}\n{kept.advice(slurm, note['source'])}\n{_AGAIN}"
