"""Did any job of a run ever have its reservation?"""

from __future__ import annotations

from pegasus_bb.dag.reader import read_dag
from pegasus_bb.dag.roles import RESERVATION, role_of
from pegasus_bb.engine.journal import read_history
from pegasus_bb.engine.recovery import done_before
from pegasus_bb.engine.submitdir import SubmitDir
from pegasus_bb.planner.seal import touching
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.settled import on_the_pfs

# What a node goes through while its gate holds it back.
_HELD_BACK = ("PRE_SCRIPT_STARTED", "PRE_SCRIPT_TERMINATED", "PRE_SCRIPT_FAILURE")


def is_unused(place: SubmitDir) -> bool:
    """Whether the journal and the rescue files say that none had it.

    False where a node that touches it has begun, and where the DAG has none, so that
    they could not tell. Raises UsageError where one of them cannot be read.
    """
    bb = BBDir(str(place.bb))
    if on_the_pfs(bb, bb.request()):
        return True
    dag = read_dag(place.dag)
    users = {
        name
        for name in touching(dag, place.path, bb.request())
        if role_of(name) not in RESERVATION
    }
    history = read_history(place.journal)
    begun = {e.node for e in history.events if e.event not in _HELD_BACK}
    return bool(users) and not users & (begun | done_before(place, dag, history))
