"""Why a run has failed, and what would do: one table of causes.

Each cause looks at the facts of the failed run, and answers with the last lines that
`pegasus-bb run` prints, or with none if it does not apply. The first that applies
counts. A user who follows these lines, and nothing else, gets a finished run or a
clean release: a test does so for each cause.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from shlex import quote

from pegasus_bb.core.errors import (
    DATA_NOT_SAFE,
    DEADLINE_PASSED,
    RESERVATION_FAILED,
    SCHEDULER_UNREACHABLE,
)
from pegasus_bb.core.units import MIB, abbreviate, format_size
from pegasus_bb.model.dag.roles import CLEANUPS, Role, role_of
from pegasus_bb.run.engine.failed_run import FailedRun
from pegasus_bb.run.engine.lost_inputs import messages
from pegasus_bb.run.engine.node_table import NodeEntry
from pegasus_bb.runtime.job_reservation.disk import TAKEN
from pegasus_bb.runtime.release_steps import release_command
from pegasus_bb.runtime.reservation_identity import GONE
from pegasus_bb.runtime.transfers.folder_jobs import LAST_COPY

Cause = Callable[[FailedRun], Iterator[str]]

_FULL = ("No space left on device", "Disk quota exceeded", "ENOSPC", "EDQUOT")
_CLOSED = ("Read-only file system", "Permission denied")
# What launch could not save of a job that had failed before.
_SAVING = ("launch: checkpoint ", "launch: the folder of this failed try")
_TRANSFERS_OUT = (Role.STAGE_OUT, Role.STAGE_INTER)
_SHOWN = 3  # names in a line


def last_lines(run: FailedRun) -> list[str]:
    """The lines of the first cause that applies, each with its label."""
    return next(filter(None, (list(cause(run)) for cause in CAUSES.values())), [])


def reservation_given_back(run: FailedRun) -> Iterator[str]:
    if run.was_accepted:
        yield (
            "cause:       the reservation was given back, and results are not as the "
            "run has made them"
        )
        yield "             to keep them as they are, nothing is left to do"
        yield _start_over(run)
    elif run.given_back:
        yield f"lost:        what lived only on {run.given_back}, which was given back"
        yield _start_over(run)


def reservation_vanished(run: FailedRun) -> Iterator[str]:
    if run.has_vanished and run.reservation is not None:
        name = run.reservation.name
        yield (
            f"lost:        reservation {name} is not there any more, nor what lived "
            "only there"
        )
        yield _start_over(run)


def reservation_unseen(run: FailedRun) -> Iterator[str]:
    """Its folder is not mounted, or Slurm does not tell."""
    if run.why_unseen and run.reservation is not None:
        yield f"cause:       {run.why_unseen}"
        if "--gone" not in run.why_unseen:
            yield f"             {GONE.format(run.reservation.name)}"
        yield f"{_continue(run)}   (once it is there)"


def no_disk(run: FailedRun) -> Iterator[str]:
    """A job has not got the disk of its node: no scheduler has refused anything."""
    tasks = run.with_status(RESERVATION_FAILED, Role.TASK, Role.CLUSTER)
    own = [item.node.name for item in tasks if run.has_own(item)]
    if own and run.uses_disks_of_nodes:
        yield (
            "cause:       the disk of the node could not be used, says "
            f"{abbreviate(own, _SHOWN)}"
        )
        yield f"{_continue(run)}   (once each node has it)"
        yield "             or mend the tier in the site catalog, then:"
        yield from _plan_again(run)


def reservation_refused(run: FailedRun) -> Iterator[str]:
    """bb_setup, the gate or a job with a reservation of its own ended with the
    scheduler's refusal."""
    shared = run.with_status(RESERVATION_FAILED, Role.BB_SETUP, Role.CREATE_DIR)
    tasks = run.with_status(RESERVATION_FAILED, Role.TASK, Role.CLUSTER)
    if (shared and not run.was_ready) or any(map(run.has_own, tasks)):
        yield "cause:       the reservation was refused; once that is mended:"
        yield _continue(run)
        yield from _plan_again(run)


def no_answer(run: FailedRun) -> Iterator[str]:
    if run.with_status(SCHEDULER_UNREACHABLE):
        yield "cause:       no answer about the reservation; it is kept"
        yield f"{_continue(run)}   (once there is an answer)"


def deadline_passed(run: FailedRun) -> Iterator[str]:
    late = run.with_status(DEADLINE_PASSED)
    own = [item.node.name for item in late if run.has_own(item)]
    if own:
        names = abbreviate(own, _SHOWN)
        yield f"cause:       the tier had no room in time, says {names}"
        yield f"{_continue(run)}   (waits anew)"
        yield from _plan_again(run)
    elif late:
        yield "cause:       the reservation is late, and is still asked for"
        yield f"{_continue(run)}   (waits anew)"


def never_made(run: FailedRun) -> Iterator[str]:
    """A node ended well without a file that it promised."""
    missing = [one for one in run.lost if one.never_made]
    if missing:
        yield from messages(missing)
        yield "             mend the program or its arguments, then:"
        yield _continue(run, "--remake ")
        yield "             or mend the name in the workflow, then:"
        yield from _plan_again(run)


def input_lost(run: FailedRun) -> Iterator[str]:
    if run.lost:
        yield from messages(run.lost)
        yield _continue(run, "--remake ")


def destination_full(run: FailedRun) -> Iterator[str]:
    """A stage-out found no room where results go."""
    for item in run.failed:
        if role_of(item.node.name) in _TRANSFERS_OUT and _says_full(run, item):
            yield "cause:       the place of the results is full; make room, then:"
            yield _continue(run)
            return


def destination_closed(run: FailedRun) -> Iterator[str]:
    """A stage-out may not write where results go."""
    for item in run.failed:
        if role_of(item.node.name) in _TRANSFERS_OUT and _says(run, item, _CLOSED):
            yield "cause:       the place of the results takes no writes; once it does:"
            yield _continue(run)
            return


def scratch_full(run: FailedRun) -> Iterator[str]:
    """What is full can be given room: the PFS, or a tier's file system that has less
    than was reserved."""
    full = [item for item in run.failed if _says_full(run, item)]
    on_the_pfs = [
        item for item in full if not run.has_reserved(item) or _fills_the_pfs(run, item)
    ]
    place = run.pfs_scratch if on_the_pfs else run.tier_below_reserved if full else ""
    if place:
        yield f"cause:       the file system of {place} is full; make room, then:"
        yield _continue(run)


def tier_full(run: FailedRun) -> Iterator[str]:
    full = [item.node.name for item in run.failed if _says_full(run, item)]
    if not full:
        return
    size = run.reserved
    most = run.largest_capacity
    grown = 2 * max(size, *(_taken(run, item) for item in run.failed))
    wanted = min(grown, most) if most > size else grown
    yield (
        f"cause:       the tier is full ({format_size(size)} by the plan), says "
        f"{abbreviate(full, _SHOWN)}"
    )
    if 0 < most <= size:
        yield (
            "             that is all that its file system has: put some files on the "
            "PFS (bb.tier: pfs), or name a larger tier, then:"
        )
    elif run.quota > size:
        wanted = min(wanted, run.quota)
    elif run.quota:
        yield (
            "             that is all of its quota: raise it in the site catalog to "
            f"{format_size(wanted)}, then:"
        )
    yield from _plan_again(run, capacity=wanted)


def _taken(run: FailedRun, item: NodeEntry) -> int:
    """The bytes that the job of ``item`` had on the full disk of a node; 0 if it was
    another storage. Whole MiB."""
    found = (re.search(rf"{TAKEN} (\d+) bytes", line) for line in run.lines(item))
    return max((-(-int(match[1]) // MIB) * MIB for match in found if match), default=0)


def catalog_changed(run: FailedRun) -> Iterator[str]:
    """The user has mended a catalog, which the run does not read again."""
    changed = run.command.changed()
    if changed:
        names = abbreviate([Path(path).name for path in changed], _SHOWN)
        yield f"changed:     {names}, since the planning; a run does not read it again"
        yield from _plan_again(run)
        yield f"{_continue(run)}   (by the old plan)"


def program_missing(run: FailedRun) -> Iterator[str]:
    programs = list(filter(None, map(run.missing_program, run.failed)))
    if programs:
        yield f"cause:       {programs[0]} cannot be started; put it there, then:"
        yield _continue(run)
        yield "             or mend the transformation catalog, then:"
        yield from _plan_again(run)


def mended_too_late(run: FailedRun) -> Iterator[str]:
    """The user has mended what finished tasks have read; they do not run again."""
    if run.mended_too_late:
        names = abbreviate(run.mended_too_late, _SHOWN)
        yield f"changed:     {names}, after the tasks that use it have ended"
        yield from _plan_again(run)
        yield f"{_continue(run)}   (with what they have made)"


def results_not_safe(run: FailedRun) -> Iterator[str]:
    kept = [
        *run.with_status(DATA_NOT_SAFE, Role.BB_DELETE),
        *(x for x in run.failed if role_of(x.node.name) in CLEANUPS and _kept(run, x)),
    ]
    if kept and not run.has_copies:
        yield "cause:       results were changed since; the tier has no copy any more"
        command = release_command(run.bb.request().name, loses_nothing=False)
        yield f"to accept:   {command}"
    elif kept:
        yield "cause:       results are not safe yet; a run stages them out again"
        yield _continue(run)


def _kept(run: FailedRun, item: NodeEntry) -> bool:
    """Whether a clean-up has left a file for the sake of a result."""
    return _says(run, item, (LAST_COPY,))


def task_failed(run: FailedRun) -> Iterator[str]:
    tasks = (Role.TASK, Role.CLUSTER)
    if any(role_of(item.node.name) in tasks for item in run.failed):
        yield _continue(run)
        yield (
            "             (it brings mended programs and inputs for tasks that are "
            "left; a mended catalog needs a new plan)"
        )


def anything_else(run: FailedRun) -> Iterator[str]:
    yield _continue(run)


CAUSES: dict[str, Cause] = {
    cause.__name__: cause
    for cause in (
        reservation_given_back,
        reservation_vanished,
        reservation_unseen,
        no_disk,
        reservation_refused,
        no_answer,
        deadline_passed,
        never_made,
        input_lost,
        destination_full,
        destination_closed,
        scratch_full,
        tier_full,
        catalog_changed,
        program_missing,
        mended_too_late,
        results_not_safe,
        task_failed,
        anything_else,
    )
}


_CONTINUE = "to continue:"


def is_continuation(line: str) -> bool:
    return line.startswith(_CONTINUE)


def _continue(run: FailedRun, option: str = "") -> str:
    return f"{_CONTINUE} pegasus-bb run {option}{quote(str(run.place.path))}"


def _start_over(run: FailedRun) -> str:
    return f"start over:  pegasus-bb run --restart {quote(str(run.place.path))}"


def _plan_again(run: FailedRun, capacity: int = 0) -> Iterator[str]:
    """The commands that give the reservation back and plan anew."""
    size = _exact(capacity) if capacity else ""
    plan = run.command.again(size) or "pegasus-bb plan, as before"
    if size and not run.command.again():
        plan += f", with --bb-capacity {size}"
    release = ""
    if run.reservation is not None:
        release = release_command(run.reservation.name, loses_nothing=not run.was_ready)
    first, *rest = filter(None, (release, plan))
    yield f"plan again:  {first}"
    yield from (f"             {line}" for line in rest)


def _exact(size: int) -> str:
    """``size`` in the largest unit that loses nothing."""
    for unit, bits in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size % (1 << bits) == 0:
            return f"{size >> bits}{unit}"
    return f"{size}B"


def _says(run: FailedRun, item: NodeEntry, words: Sequence[str]) -> bool:
    return any(word in line for line in run.lines(item) for word in words)


def _says_full(run: FailedRun, item: NodeEntry) -> bool:
    return any(_full_lines(run, item))


def _fills_the_pfs(run: FailedRun, item: NodeEntry) -> bool:
    """Whether it was a copy from the tier to the scratch that found no room."""
    there = f" -> {run.pfs_scratch}/"
    return bool(run.pfs_scratch) and any(there in x for x in _full_lines(run, item))


def _full_lines(run: FailedRun, item: NodeEntry) -> Iterator[str]:
    for line in run.lines(item):
        if not line.startswith(_SAVING) and any(word in line for word in _FULL):
            yield line
