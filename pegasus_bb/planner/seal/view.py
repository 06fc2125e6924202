"""A DAG as the rules look at it: roles of nodes, and which node waits for which."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property

from pegasus_bb.dag.nodes import Dag, Node
from pegasus_bb.dag.roles import Role, folder_nodes, is_local_cleanup, of_role, role_of
from pegasus_bb.units import abbreviate

BUILT_IN = "pegasus-bb built-in"  # planner in plan.json
DEFERRED = 75  # the exit status of a gate that wants to be asked again


@dataclass(frozen=True)
class View:
    """``buffer_users``: the nodes that need the reservation, as far as is known."""

    dag: Dag
    buffer_users: Set[str]
    site: str
    gate: str  # the gate's program
    # clean-up node -> the stage-outs of what it removes
    removes: Mapping[str, Set[str]] = field(default_factory=dict)
    ours: bool = False  # planned by the built-in planner

    @cached_property
    def setups(self) -> list[str]:
        """Nodes that reserve; one is right."""
        return of_role(self.dag.nodes, Role.BB_SETUP)

    @cached_property
    def deletes(self) -> list[str]:
        """Nodes that give back; one is right."""
        return of_role(self.dag.nodes, Role.BB_DELETE)

    @cached_property
    def gated(self) -> list[str]:
        """Nodes that make the run's folder on the site; one is right."""
        return folder_nodes(self.dag.nodes, Role.CREATE_DIR, self.site)

    @cached_property
    def stage_outs(self) -> list[str]:
        return of_role(self.dag.nodes, Role.STAGE_OUT)

    @cached_property
    def saving(self) -> set[str]:
        """Those of them that may bring something from the run's folder: not those of
        an earlier result that is reused, which wait for nothing there."""
        return set(self.stage_outs) & (self.users | self.behind_gate)

    @cached_property
    def leaf_cleanups(self) -> list[str]:
        return folder_nodes(self.dag.nodes, Role.LEAF_CLEANUP, self.site)

    @cached_property
    def users(self) -> set[str]:
        """Nodes that need the reservation, apart from those that make and end it."""
        return set(self.buffer_users) - {*self.setups, *self.deletes}

    @cached_property
    def must_run(self) -> set[str]:
        """Nodes whose success without their work loses data: all that may use the
        buffer, and those that make and end it. Not a planner's own chores on the
        submit host."""
        behind = {
            name
            for name in self.behind_gate - self.after_delete
            if role_of(name) is not Role.REGISTRATION and not is_local_cleanup(name)
        }
        cleanups = {*self.leaf_cleanups, *self.removes}
        return self.users | behind | self.keys | cleanups

    @cached_property
    def keys(self) -> set[str]:
        """Nodes that reserve and give back, that make the folder, that save results."""
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
        """The gated nodes and all that wait for them."""
        return reach(self.gated, self.dag.children)

    @cached_property
    def before_delete(self) -> set[str]:
        """All that giving back waits for, and giving back."""
        return reach(self.deletes, self.parents)

    @cached_property
    def after_delete(self) -> set[str]:
        """All that waits for giving back, without it."""
        return reach(self.deletes, self.dag.children) - set(self.deletes)

    @cached_property
    def gates(self) -> list[Node]:
        """Nodes whose PRE script is the gate, or defers as a gate does."""
        return [
            node
            for node in self.dag.nodes.values()
            if node.pre is not None
            and (node.pre.executable == self.gate or node.pre.defer_status == DEFERRED)
        ]


def reach(start: Iterable[str], edges: Mapping[str, list[str]]) -> set[str]:
    """``start`` and everything that ``edges`` lead to from there."""
    seen = set(start)
    waiting = deque(seen)
    while waiting:
        for name in edges.get(waiting.popleft(), ()):
            if name not in seen:
                seen.add(name)
                waiting.append(name)
    return seen


def some(names: Iterable[str]) -> str:
    return abbreviate(sorted(names))
