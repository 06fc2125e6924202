"""Finds how far a run is from its files. HTCondor's queue is asked whether a DAGMan
whose log has no end is still there; if it is, Slurm is asked why its jobs wait."""

from __future__ import annotations

from dataclasses import dataclass, field

from pegasus_bb.core.files import lock_holder
from pegasus_bb.model.dag.reader import read_dag
from pegasus_bb.run.engine.dagman.find import find
from pegasus_bb.run.engine.dagman.job_waits import JobWait, slurm_waits
from pegasus_bb.run.engine.failure_messages import failure_messages
from pegasus_bb.run.engine.jobstate_log import read_history
from pegasus_bb.run.engine.nodestates import table_now
from pegasus_bb.run.engine.submitdir import SubmitDir
from pegasus_bb.run.engine.table import NodeState


@dataclass
class RunStatus:
    submit_dir: str
    dag: str
    engine: str  # that runs it now; empty without one
    nodes: dict[str, int] = field(default_factory=dict)  # by state, and total
    running: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    waits: list[JobWait] = field(default_factory=list)  # jobs that Slurm has not begun
    failed: list[str] = field(default_factory=list)
    last_failures: list[str] = field(default_factory=list)  # lines for a person
    finished: int | None = None  # exit status of the last run that came to an end
    last_event: int = 0  # seconds since the epoch


def run_status(place: SubmitDir) -> RunStatus:
    """Read the DAG, the rescue files and the journal. Raises UsageError."""
    dag = read_dag(place.dag)
    history = read_history(place.journal)
    dagman = find(place)
    engine = lock_holder(str(place.lock)) or (dagman.description if dagman else "")
    table = table_now(place, dag, history, alive=bool(engine))
    status = RunStatus(str(place.path), place.dag.name, engine)
    status.nodes = {state.value: count for state, count in table.counts.items()}
    status.nodes["total"] = len(dag.nodes)
    status.running = table.names(NodeState.RUNNING)
    status.held = table.names(NodeState.HELD)
    if dagman is not None and dagman.alive and status.running:
        status.waits = slurm_waits(dagman.life.cluster)
    status.failed = table.names(NodeState.FAILED)
    failed = [table.items[name] for name in status.failed]
    status.last_failures = failure_messages(failed, place)
    status.finished = None if history.crashed else history.finished
    status.last_event = history.events[-1].time if history.events else 0
    return status
