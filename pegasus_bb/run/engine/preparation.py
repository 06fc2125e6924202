"""What both engines do before they start anything of a submit directory: check it, move
an earlier run aside where the user starts over, and find what must run again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from pegasus_bb.core.errors import (
    CatalogError,
    ReservationFailed,
    SchedulerUnreachable,
    UsageError,
)
from pegasus_bb.core.units import abbreviate
from pegasus_bb.model.dag.nodes import Dag
from pegasus_bb.model.dag.roles import RESERVATION, Role, of_role, role_of
from pegasus_bb.model.reservation import Reservation, State
from pegasus_bb.planner.planned_by import PlanningCommand
from pegasus_bb.planner.seal.sealed_directory import buffer_users, check_directory
from pegasus_bb.run.engine.brought_again import bring_again, mended_files
from pegasus_bb.run.engine.dagman.find import check_no_dagman
from pegasus_bb.run.engine.jobstate_log import LoggedEvents, read_history
from pegasus_bb.run.engine.lost_inputs import Ask, remake_lost_inputs
from pegasus_bb.run.engine.nodestates import done_before, failed_before
from pegasus_bb.run.engine.nothing_lost import loses_nothing
from pegasus_bb.run.engine.processes import end_left_over
from pegasus_bb.run.engine.redo import Redo, stage_out_again
from pegasus_bb.run.engine.submitdir import SubmitDir
from pegasus_bb.runtime import reservation_identity
from pegasus_bb.runtime.bbdir import ELSEWHERE, BBDir
from pegasus_bb.runtime.job_reservation.results import NOTES
from pegasus_bb.runtime.release_steps import release_command
from pegasus_bb.runtime.results_guard import ResultsGuard
from pegasus_bb.runtime.results_place import ResultsPlace
from pegasus_bb.runtime.storage_decision import DECISION_FILE, on_the_pfs

_SHOWN = 4  # names in a note
# Lines about DAGMan's own files and configuration, which the local engine ignores.
_HARMLESS = {
    "CONFIG",
    "DOT",
    "JOBSTATE_LOG",
    "NODE_STATUS_FILE",
    "SAVE_POINT_FILE",
    "SCRIPT",  # of type HOLD: a job is never held here
    "SET_JOB_ATTR",
}
_WOULD_DO = "run it with HTCondor: pegasus-run, or condor_submit_dag"


@dataclass(frozen=True)
class Preparation:
    """A run that may start."""

    history: LoggedEvents
    done: frozenset[str]  # nodes that must not run again
    moved: tuple[Path, ...]  # files moved out of the way
    notes: tuple[str, ...]  # for the user: what runs again, and why


def prepare(
    place: SubmitDir,
    dag: Dag,
    check_engine: Callable[[], None],
    *,
    restart: bool,
    ask: Ask,
) -> Preparation:
    """Check ``place``, whose lock the caller holds, and find what is left to do.
    ``check_engine`` raises where the engine cannot run ``dag``.

    Raises UsageError, NotSealed, ReservationFailed, RunFailed, DataNotSafe and
    SchedulerUnreachable where nothing may start.
    """
    check_no_dagman(place)
    check_engine()
    check_directory(place.path, dag)
    end_left_over(place.processes)
    moved = start_over(place) if restart else []
    history = read_history(place.journal)
    done = done_before(place, dag, history)
    check_reservation(place, dag, done)
    failed = failed_before(place, dag, history)
    mended = mended_files(place, dag.nodes, done, failed)
    redone = (
        request_again(place, dag, done)
        or remake_lost_inputs(place, dag, done, failed, ask)
        or stage_out_again(place, dag, done),
        bring_again(place, dag, done, mended.wanted),
    )
    nodes = frozenset[str]().union(*(redo.nodes for redo in redone))
    notes = (
        *_changed_note(place),
        *mended.notes,
        *(redo.message for redo in redone if redo),
    )
    moved += [path for redo in redone for path in redo.moved]
    return Preparation(history, frozenset(done - nodes), tuple(moved), notes)


def _changed_note(place: SubmitDir) -> Iterator[str]:
    changed = PlanningCommand.of_run(place.bb).changed()
    if changed:
        yield (
            f"{abbreviate(changed, _SHOWN)}: written since this run was planned, and "
            "not read again; a new plan reads it"
        )


def moved_from(place: SubmitDir) -> str:
    """Where the directory was planned, if it was moved since; else empty."""
    planned = str(place.braindump().get("submit_dir", ""))
    is_moved = planned and Path(planned).resolve() != place.path.resolve()
    return planned if is_moved else ""


def check_place(place: SubmitDir) -> None:
    """Raises UsageError where the directory was moved: its files hold absolute paths,
    which may belong to another run by now."""
    planned = moved_from(place)
    if planned:
        raise UsageError(
            f"{place.path} was planned as {planned} and moved since, and its files "
            "name that place. Move it back, or plan it again"
        )


def check_results_place(place: SubmitDir, *, restart: bool) -> None:
    """Raises UsageError where a stage-out on this machine could not end well: the place
    of the results is not what it was at planning. A run that has ended well needs it no
    more."""
    fault = ResultsPlace.of(place.bb_dir).fault()
    if fault and (restart or read_history(place.journal).finished != 0):
        raise UsageError(f"results cannot be staged out: {fault}")


def check_reservation(place: SubmitDir, dag: Dag, done: Set[str]) -> None:
    """Raises ReservationFailed where unfinished nodes need a reservation that does not
    exist any more: they would fail in every run."""
    bb = place.bb_dir
    if not bb.has_request or len(done) == len(dag.nodes):
        return
    if on_the_pfs(bb, bb.request()):
        return
    noted = bb.reservation()
    note_is_lost = noted is None
    noted = noted or _restore_note(bb, done)
    if noted is None:
        return
    users = users_of(place, dag)
    used = users & done
    left = users - done
    lost = ""
    if noted.released_at and (used or reservation_identity.has_progressed(bb, noted)):
        lost = _released_message(bb, noted, left)
    if not noted.released_at and left and (used or note_is_lost):
        lost = _vanished_message(bb, noted, left)
    if lost:
        raise ReservationFailed(
            f"reservation {noted.name} {lost}. What lived only there is lost\n"
            f"start over:  pegasus-bb run --restart {quote(str(place.path))}"
        )


def users_of(place: SubmitDir, dag: Dag) -> Set[str]:
    """Nodes that use files on the reservation."""
    bb = place.bb_dir
    touched = buffer_users(dag, place.path, bb.request())
    return {name for name in touched if role_of(name) not in RESERVATION}


def _restore_note(bb: BBDir, done: Set[str]) -> Reservation | None:
    """Write a lost note again: bb_setup, once done, does not run again, and every
    other node needs the note."""
    if not of_role(done, Role.BB_SETUP):
        return None
    noted = reservation_identity.recover_note(bb)
    if noted is None:  # treated below like one that does not exist
        request = bb.request()
        return Reservation(request.name, request.backend, request.uuid, 0.0)
    bb.note_reservation(noted)
    return noted


def _released_message(bb: BBDir, noted: Reservation, left: Set[str]) -> str:
    """Why the release was too early; empty where only bb_delete did not finish."""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(noted.released_at))
    if left:
        return f"was given back at {when}, and {_unfinished(left)} not done"
    for result in ResultsGuard(bb, read_all=False).unsafe():
        return f"was given back at {when}, and {result.lfn} is not safe: {result.why}"
    return ""


def _vanished_message(bb: BBDir, noted: Reservation, left: Set[str]) -> str:
    status = reservation_identity.status(bb, noted)
    if not status.state.is_missing:
        return ""  # also where its state is unknown: the run finds out
    reason = status.message or status.state.value
    return f"is not there any more ({reason}), and {_unfinished(left)} not done"


def _unfinished(left: Set[str]) -> str:
    if len(left) == 1:
        return f"{next(iter(left))}, which needs it, is"
    return f"{len(left)} nodes that need it are"


def request_again(place: SubmitDir, dag: Dag, done: Set[str]) -> Redo:
    """Let bb_setup run again, moving its note aside where the reservation was released.
    Nothing where it was ever ready, may still come, or its state is unknown.

    Raises UsageError.
    """
    bb = place.bb_dir
    setups = frozenset(of_role(done, Role.BB_SETUP))
    if not setups or not bb.has_request or on_the_pfs(bb, bb.request()):
        return Redo()
    noted = bb.reservation()
    if (
        noted is None
        or reservation_identity.has_progressed(bb, noted)
        or users_of(place, dag) & done
    ):
        return Redo()
    if noted.released_at is not None:
        why = f"reservation {noted.name} was given back before any job had it"
        return Redo(setups, (move_aside(Path(bb.file("reservation.json"))),), why)
    why = _why_ended(bb, noted)
    return Redo(setups, why=why) if why else Redo()


def _why_ended(bb: BBDir, noted: Reservation) -> str:
    status = reservation_identity.status(bb, noted)
    if not (status.state.is_missing or status.state is State.FAILED):
        return ""
    reason = status.message or status.state.value
    return f"reservation {noted.name} never came up ({reason})"


def start_over(place: SubmitDir) -> list[Path]:
    """Move journal, rescue files and the reservation's notes aside; returns new paths.

    Raises ReservationFailed where the reservation still exists: it may hold the only
    copy of results.
    """
    _check_reservation(place)
    notes = [
        place.bb / name
        for name in ("reservation.json", "manifest.jsonl", DECISION_FILE)
    ]
    folders = (NOTES, ELSEWHERE)
    notes += [place.bb / name for name in ("gate.json", *folders)]
    old = [place.journal, *place.rescues(), *notes]
    return [move_aside(file) for file in old if file.exists()]


def _check_reservation(place: SubmitDir) -> None:
    bb = place.bb_dir
    if not bb.has_request:
        return
    request = bb.request()
    if on_the_pfs(bb, request):
        return  # a reservation that came up late holds nothing of the run
    noted = bb.reservation()
    if noted is None and reservation_identity.requested_at(bb):
        noted = reservation_identity.recover_note(bb)
    if noted is None or noted.released_at is not None:
        return
    status = reservation_identity.status(bb, noted)
    never = bool(noted.failure) or not reservation_identity.has_progressed(bb, noted)
    refused = status.state is State.FAILED and never
    if status.state.is_missing or refused:
        return
    if status.state is State.UNKNOWN:
        raise SchedulerUnreachable(
            f"the scheduler does not say whether {request.name} still stands "
            f"({status.message}); "
            "starting over could lose what is on it: try again later"
        )
    give_back = release_command(request.name, loses_nothing=loses_nothing(place))
    raise ReservationFailed(
        f"reservation {request.name} still stands ({status.state.value}) and may hold "
        "results that are saved nowhere else; go on with it: "
        f"pegasus-bb run {place.path}; or give it up with what is on it: "
        f"{give_back}; then --restart"
    )


def move_aside(file: Path) -> Path:
    """Rename ``file`` to its name with the next free number."""
    number = 0
    while (target := file.with_name(f"{file.name}.{number:03d}")).exists():
        number += 1
    return file.rename(target)


def check_runnable(dag: Dag, file: Path) -> None:
    """Raises CatalogError where ``dag`` uses features that only DAGMan has."""
    for node in dag.nodes.values():
        if node.kind != "JOB":
            kind = "SUBDAG EXTERNAL" if node.kind == "SUBDAG" else node.kind
            raise CatalogError(
                f"the local engine does not run {kind} nodes",
                str(file),
                found=f"{kind} {node.name}",
                would_do=_WOULD_DO,
            )
        if dag.max_jobs.get(node.category, 1) < 1:
            raise CatalogError(
                f"no job of category {node.category} could ever start",
                str(file),
                found=f"MAXJOBS {node.category} 0",
                would_do=f"MAXJOBS {node.category} 1",
            )
    for line in dag.other:
        if line.split()[0].upper().replace("-", "_") not in _HARMLESS:
            raise CatalogError(
                "the local engine does not know this line",
                str(file),
                found=line,
                would_do=_WOULD_DO,
            )
