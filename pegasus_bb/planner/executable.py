"""An executable workflow: what either planner makes of an abstract one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

from pegasus_bb.dag.joblists import Entries
from pegasus_bb.dag.nodes import Dag
from pegasus_bb.planner.seal import BUILT_IN, Phases


@dataclass(frozen=True, kw_only=True)
class ExecutableWorkflow:
    """Nodes, edges and job lists of either planner; ``complete`` adds the rest."""

    planner: str  # its name, as plan.json has it
    dag: Dag
    dag_name: str  # of its file
    entries: Callable[[str], Entries]  # the job list of a node
    # (id of a job, the node that runs it); the tasks of a cluster have one node, and a
    # cluster that has a reservation is a job by the name of its node.
    jobs_nodes: Callable[[], Sequence[tuple[str, str]]]
    users: Set[str]  # nodes that use the buffer
    scratch: str  # the run's folder on the compute site
    outputs: Mapping[str, str]  # LFN -> where stage-out puts it, and bb_delete looks
    phases: Phases | None = None  # where the files do not fit onto the tier at once

    @property
    def is_ours(self) -> bool:
        """Whether the built-in planner has made it."""
        return self.planner == BUILT_IN
