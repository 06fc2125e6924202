"""A DAG as the rules see it: the role of each node, and what it waits for."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property

from pegasus_bb.core.units import abbreviate
from pegasus_bb.model.dag.nodes import Dag, Node
from pegasus_bb.model.dag.roles import (
    Role,
    folder_nodes,
    is_local_cleanup,
    of_role,
    role_of,
)

BUILT_IN = "pegasus-bb built-in"  # planner in plan.json
DEFERRED = 75  # the exit status of a script that DAGMan has to run again


@dataclass(frozen=True)
class View:
    """``buffer_users`` are the nodes that are known to need the reservation."""

    dag: Dag
    buffer_users: Set[str]
    site: str
    gate: str  # the gate's program
    # clean-up node -> the stage-outs of what it removes
    removes: Mapping[str, Set[str]] = field(default_factory=dict)
    is_builtin: bool = False  # planned by the built-in planner

    @cached_property
    def setups(self) -> list[str]:
        """The bb_setup nodes; a valid DAG has one."""
        return of_role(self.dag.nodes, Role.BB_SETUP)

    @cached_property
    def deletes(self) -> list[str]:
        """The bb_delete nodes; a valid DAG has one."""
        return of_role(self.dag.nodes, Role.BB_DELETE)

    @cached_property
    def gated(self) -> list[str]:
        """Nodes that make the run's folder on the site; a valid DAG has one."""
        return folder_nodes(self.dag.nodes, Role.CREATE_DIR, self.site)

    @cached_property
    def stage_outs(self) -> list[str]:
        return of_role(self.dag.nodes, Role.STAGE_OUT)

    @cached_property
    def saving_stage_outs(self) -> set[str]:
        """Stage-outs that may copy from the run's folder. One that copies a reused
        result of an earlier run waits for nothing there, and is left out."""
        return set(self.stage_outs) & (self.users | self.behind_gate)

    @cached_property
    def leaf_cleanups(self) -> list[str]:
        return folder_nodes(self.dag.nodes, Role.LEAF_CLEANUP, self.site)

    @cached_property
    def users(self) -> set[str]:
        """Nodes that need the reservation, without bb_setup and bb_delete."""
        return set(self.buffer_users) - {*self.setups, *self.deletes}

    @cached_property
    def must_run(self) -> set[str]:
        """Nodes that would lose data if DAGMan counted them as done without running
        them: all that may use the buffer, bb_setup and bb_delete. A planner's own
        chores on the submit host are left out."""
        behind = {
            name
            for name in self.behind_gate - self.after_delete
            if role_of(name) is not Role.REGISTRATION and not is_local_cleanup(name)
        }
        cleanups = {*self.leaf_cleanups, *self.removes}
        return self.users | behind | self.essential | cleanups

    @cached_property
    def essential(self) -> set[str]:
        """The nodes bb_setup, create_dir and bb_delete, and all stage-outs."""
        return {*self.setups, *self.gated, *self.stage_outs, *self.deletes}

    @cached_property
    def parents(self) -> dict[str, list[str]]:
        parents: dict[str, list[str]] = {}
        for parent, children in self.dag.children.items():
            for child in children:
                parents.setdefault(child, []).append(parent)
        return parents

    @cached_property
    def behind_gate(self) -> set[str]:
        """The gated nodes and their descendants."""
        return reachable(self.gated, self.dag.children)

    @cached_property
    def before_delete(self) -> set[str]:
        """bb_delete and its ancestors."""
        return reachable(self.deletes, self.parents)

    @cached_property
    def after_delete(self) -> set[str]:
        """The descendants of bb_delete."""
        return reachable(self.deletes, self.dag.children) - set(self.deletes)

    @cached_property
    def gates(self) -> list[Node]:
        """Nodes whose PRE script is the gate, or defers as a gate does."""
        return [
            node
            for node in self.dag.nodes.values()
            if node.pre is not None
            and (node.pre.executable == self.gate or node.pre.defer_status == DEFERRED)
        ]


def reachable(start: Iterable[str], edges: Mapping[str, list[str]]) -> set[str]:
    """``start`` and every node that ``edges`` lead to from there."""
    seen = set(start)
    waiting = deque(seen)
    while waiting:
        for name in edges.get(waiting.popleft(), ()):
            if name not in seen:
                seen.add(name)
                waiting.append(name)
    return seen


def abbreviated(names: Iterable[str]) -> str:
    return abbreviate(sorted(names))
