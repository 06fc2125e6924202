"""Why giving a reservation back loses nothing, though its results are not saved."""

from __future__ import annotations

import re
from collections.abc import Set

from pegasus_bb.core.errors import DataNotSafe, PegasusBBError
from pegasus_bb.model.dag.nodes import Dag
from pegasus_bb.model.dag.roles import RESERVATION, role_of
from pegasus_bb.planner.seal.sealed_directory import buffer_users
from pegasus_bb.run.engine.jobstate_log import read_history
from pegasus_bb.run.engine.nodestates import done_before
from pegasus_bb.run.engine.redo import (
    CHMOD,
    CLEAN_UP,
    CREATE_DIR,
    STAGE_IN,
    TASK,
    job_class,
)
from pegasus_bb.run.engine.submitdir import SubmitDir
from pegasus_bb.runtime.backends.backend_table import open_backend
from pegasus_bb.runtime.programs.delete import NO_RESULTS, UNUSED, check_results
from pegasus_bb.runtime.storage_decision import on_the_pfs

# What a node goes through while its gate holds it back.
_HELD_BACK = ("PRE_SCRIPT_STARTED", "PRE_SCRIPT_TERMINATED", "PRE_SCRIPT_FAILURE")
_MAKE_NOTHING = (STAGE_IN, CREATE_DIR, CLEAN_UP, CHMOD)
_CHECKPOINT = re.compile(r"\btype\W+checkpoint\b")


def check_nothing_lost(place: SubmitDir) -> str:
    """Empty where all promised results are safe, else why giving back loses nothing all
    the same. Raises DataNotSafe where it does."""
    bb = place.bb_dir
    request = bb.request()
    backend = open_backend(request.backend, request.settings)
    try:
        check_results(bb, backend)
        return ""
    except DataNotSafe:
        why = why_nothing_lost(place)
        if not why:
            raise
    check_results(bb, backend, why)
    return why


def loses_nothing(place: SubmitDir) -> bool:
    """Whether `pegasus-bb release` gives the reservation of the run back without
    --discard."""
    bb = place.bb_dir
    try:
        noted = bb.reservation()
        if on_the_pfs(bb, bb.request()) or noted is None or noted.was_refused:
            return True
        check_nothing_lost(place)
        return True
    except (PegasusBBError, OSError):
        return False


def why_nothing_lost(place: SubmitDir) -> str:
    """UNUSED or NO_RESULTS, by the journal and the rescue files; empty where they do
    not say so, and where the DAG has no node that uses the reservation.

    Raises UsageError where one of them cannot be read.
    """
    bb = place.bb_dir
    if on_the_pfs(bb, bb.request()):
        return UNUSED
    dag = place.read_dag()
    users = {
        name
        for name in buffer_users(dag, place.path, bb.request())
        if role_of(name) not in RESERVATION
    }
    history = read_history(place.journal)
    done = done_before(place, dag, history)
    begun = {e.node for e in history.events if e.event not in _HELD_BACK}
    if users and not users & (begun | done):
        return UNUSED
    failed = bool(history.finished) and not history.crashed
    if failed and begun and _made_nothing(place, dag, users & (begun | done), done):
        return NO_RESULTS
    return ""


def _made_nothing(place: SubmitDir, dag: Dag, used: Set[str], done: Set[str]) -> bool:
    """Whether each node that has begun brings inputs, or is a task that failed: going
    on would run it from its beginning."""
    for name in used:
        kind = job_class(place, dag.nodes[name])
        if kind not in _MAKE_NOTHING and (kind != TASK or name in done):
            return False
    return not _has_checkpoints(place)


def _has_checkpoints(place: SubmitDir) -> bool:
    """Whether a task that failed may go on from what it has left."""
    try:
        text = place.workflow.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return _CHECKPOINT.search(text) is not None
