"""The nodes of a run and their states."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.core.units import abbreviate
from pegasus_bb.model.dag.nodes import Dag, Node


class NodeState(Enum):
    WAITING = "waiting"  # for its parents
    READY = "ready"  # for a slot
    DEFERRED = "deferred"  # its script runs again later
    RUNNING = "running"  # its script or its job
    HELD = "held"  # its job, by HTCondor
    DONE = "done"
    FAILED = "failed"
    FUTILE = "futile"  # a node that it needs has failed


@dataclass(slots=True, eq=False)
class NodeEntry:
    node: Node
    order: int
    children: list[str]
    waiting: int = 0  # parents that are not done
    state: NodeState = NodeState.WAITING
    retries: int = 0
    sequence: int = 0  # of this attempt, 0 before its first event
    status: int = 0  # of the job, negative: the signal that ended it
    pre_status: int = 0
    began: float = 0.0
    queued: float = 0.0  # when its job was submitted; 0: it has begun
    site: str = ""
    local: bool = False  # a job of universe local takes no slot
    stage: str = ""  # pre | job | post: which part failed last
    reason: str = ""  # why it failed


class NodeTable:
    """All nodes, counted by state. Every operation is linear over a whole run."""

    def __init__(self, dag: Dag, done: Collection[str]) -> None:
        self.items = {
            name: NodeEntry(
                node, order, list(dict.fromkeys(dag.children.get(name, ())))
            )
            for order, (name, node) in enumerate(dag.nodes.items())
        }
        self.counts = dict.fromkeys(NodeState, 0)
        self.counts[NodeState.WAITING] = len(self.items)
        for item in self.items.values():
            for child in item.children:
                self.items[child].waiting += 1
        _check_cycle(self.items, dag.file)
        for name in done:
            self.move(self.items[name], NodeState.DONE)
        for name in done:
            self._release(self.items[name])

    def move(self, item: NodeEntry, state: NodeState) -> None:
        self.counts[item.state] -= 1
        self.counts[state] += 1
        item.state = state

    def free(self) -> list[NodeEntry]:
        return [
            item
            for item in self.items.values()
            if item.state is NodeState.WAITING and not item.waiting
        ]

    def done(self, item: NodeEntry) -> list[NodeEntry]:
        """Mark ``item`` as done; returns the children that may start now."""
        self.move(item, NodeState.DONE)
        return self._release(item)

    def failed(self, item: NodeEntry) -> None:
        """Mark ``item`` as failed, and as futile all nodes that need it."""
        self.move(item, NodeState.FAILED)
        below = deque(item.children)
        while below:
            child = self.items[below.popleft()]
            if child.state is NodeState.WAITING:
                self.move(child, NodeState.FUTILE)
                below.extend(child.children)

    def names(self, *states: NodeState) -> list[str]:
        return [name for name, item in self.items.items() if item.state in states]

    def _release(self, item: NodeEntry) -> list[NodeEntry]:
        free = []
        for name in item.children:
            child = self.items[name]
            child.waiting -= 1
            if not child.waiting and child.state is NodeState.WAITING:
                free.append(child)
        return free


def _check_cycle(items: dict[str, NodeEntry], file: str) -> None:
    parents = {name: item.waiting for name, item in items.items()}
    free = deque(name for name, count in parents.items() if not count)
    seen = 0
    while free:
        seen += 1
        for child in items[free.popleft()].children:
            parents[child] -= 1
            if not parents[child]:
                free.append(child)
    if seen < len(items):
        stuck = [name for name, count in parents.items() if count]
        what = "the DAG has a cycle: these nodes wait for each other"
        mend = "take out one of the PARENT lines between them"
        raise CatalogError(what, file, found=abbreviate(stuck, 8), would_do=mend)
