"""What must be true before anything of a submit directory is started."""

from __future__ import annotations

import time
from collections.abc import Set
from pathlib import Path

from pegasus_bb.dag.nodes import Dag
from pegasus_bb.dag.roles import RESERVATION, Role, of_role, role_of
from pegasus_bb.engine.submitdir import SubmitDir
from pegasus_bb.errors import ReservationFailed, UsageError
from pegasus_bb.model.reservation import Reservation, State
from pegasus_bb.planner.seal import buffer_users, check_directory
from pegasus_bb.runtime import reservation_identity
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.results_guard import ResultsGuard
from pegasus_bb.runtime.storage_decision import on_the_pfs


def check_place(place: SubmitDir) -> None:
    """Raises UsageError where the directory is not where it was planned: its files
    name programs and logs by their full paths, which may be another run's by now."""
    planned = str(place.braindump().get("submit_dir", ""))
    if planned and Path(planned).resolve() != place.path.resolve():
        raise UsageError(
            f"{place.path} was planned as {planned} and moved since; what it would "
            "start lies there, if anywhere. Move it back, or plan it again"
        )


def check_programs(place: SubmitDir, dag: Dag) -> None:
    """Raises UsageError where scripts are of another submit directory's bb folder, also
    where no braindump.yml tells of it."""
    if not place.bb.is_dir():
        return
    scripts = [s for node in dag.nodes.values() for s in (node.pre, node.post) if s]
    folders = {s.executable.rpartition("/")[0] for s in scripts}
    for folder in sorted(f for f in folders if f.endswith("/bb/bin")):
        if (place.path / folder).resolve() != (place.bb / "bin").resolve():
            raise UsageError(
                f"{place.dag}: starts the programs of {folder}; it was planned there "
                "and moved since. Move it back, or plan it again"
            )


def check_sealed(place: SubmitDir, dag: Dag) -> None:
    """Raises NotSealed where the DAG, perhaps edited since, would put data at risk."""
    check_directory(place.path, dag)


def check_reservation(place: SubmitDir, dag: Dag, done: Set[str]) -> None:
    """Raises ReservationFailed where what is left to do needs a reservation that is not
    there any more: it would fail, however often it is tried."""
    bb = BBDir(str(place.bb))
    if not bb.has_request or len(done) == len(dag.nodes):
        return
    if on_the_pfs(bb, bb.request()):
        return
    noted = bb.reservation()
    note_is_lost = noted is None
    noted = noted or _noted_again(bb, done)
    if noted is None:
        return
    users = users_of(place, dag)
    used, left = users & done, users - done
    lost = ""
    if noted.released_at and (used or reservation_identity.has_progressed(bb, noted)):
        lost = _given_back(bb, noted, left)
    if not noted.released_at and left and (used or note_is_lost):
        lost = _gone(bb, noted, left)
    if lost:
        raise ReservationFailed(
            f"reservation {noted.name} {lost}. What lived only there is lost; start "
            f"over: pegasus-bb run --restart {place.path}"
        )


def users_of(place: SubmitDir, dag: Dag) -> Set[str]:
    """Nodes that work on the reservation, or for files on it."""
    bb = BBDir(str(place.bb))
    touched = buffer_users(dag, place.path, bb.request())
    return {name for name in touched if role_of(name) not in RESERVATION}


def _noted_again(bb: BBDir, done: Set[str]) -> Reservation | None:
    """The note, rewritten where it was lost: bb_setup, once done, is not run again,
    and no other node can do without it."""
    if not of_role(done, Role.BB_SETUP):
        return None
    noted = reservation_identity.found_again(bb)
    if noted is None:  # what the rest says about one that is not there holds here too
        request = bb.request()
        return Reservation(request.name, request.backend, request.uuid, 0.0)
    bb.note_reservation(noted)
    return noted


def _given_back(bb: BBDir, noted: Reservation, left: Set[str]) -> str:
    """Why that was too early; empty where only bb_delete did not come to its end."""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(noted.released_at))
    if left:
        return f"was given back at {when}, and {_nodes(left)} not done"
    for result in ResultsGuard(bb, read_all=False).unsafe():
        return f"was given back at {when}, and {result.lfn} is not safe: {result.why}"
    return ""


def _gone(bb: BBDir, noted: Reservation, left: Set[str]) -> str:
    status = reservation_identity.status(bb, noted)
    if status.state not in (State.ABSENT, State.GONE):
        return ""  # also where nobody answers: the run finds out
    said = status.message or status.state.value
    return f"is not there any more ({said}), and {_nodes(left)} not done"


def _nodes(left: Set[str]) -> str:
    if len(left) == 1:
        return f"{next(iter(left))}, which needs it, is"
    return f"{len(left)} nodes that need it are"
