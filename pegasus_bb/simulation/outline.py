"""The executable workflow as a planner makes it: jobs, staging, clean-ups, edges.

It is the same in every mode; what each node moves is not (``work``). As in Pegasus, a
few staging and clean-up nodes serve each level, and each waits for its files alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pegasus_bb.model.placement import PlacedFile
from pegasus_bb.model.run import Kind
from pegasus_bb.simulation.workload import Load, Workload

TRANSFERS_PER_LEVEL = 4  # nodes
CLEAN_UPS_PER_LEVEL = 2
# As Pegasus has them: of two nodes that are ready the higher goes first.
PRIORITY = {Kind.STAGE_IN: 700, Kind.STAGE_OUT: 900, Kind.CLEANUP: 1000}


@dataclass(slots=True)
class Node:
    name: str
    kind: Kind
    level: int  # of the tasks that it serves
    load: Load | None = None  # of a task
    lfns: list[str] = field(default_factory=list)  # that it brings, saves or removes
    children: list[int] = field(default_factory=list)  # places in Outline.nodes
    parents: int = 0


@dataclass(frozen=True)
class Outline:
    nodes: list[Node]  # tasks first, in the order of the workflow
    tasks: int
    files: Mapping[str, PlacedFile]


def outline(
    work: Workload, files: Mapping[str, PlacedFile], cleanup: str, delivered: bool
) -> Outline:
    """Linear in jobs and uses. ``delivered``: results are staged out."""
    drawn = _Drawing(work)
    drawn.edges()
    drawn.stage_in(files)
    results = drawn.stage_out(files) if delivered else {}
    if cleanup in ("inplace", "constraint"):
        drawn.clean_up(results, delivered)
    return Outline(drawn.nodes, len(work.loads), files)


class _Drawing:
    def __init__(self, work: Workload) -> None:
        self.work, self.graph = work, work.graph
        self.nodes = [
            Node(f"{load.job.name}_{load.job.id}", Kind.COMPUTE, load.level, load)
            for load in work.loads
        ]
        self.at = {load.job.id: at for at, load in enumerate(work.loads)}
        self._nodes: dict[tuple[Kind, int, int], int] = {}
        self._turns: dict[tuple[Kind, int], int] = {}

    def edges(self) -> None:
        at, nodes = self.at, self.nodes
        for node, load in zip(nodes, self.work.loads, strict=True):
            node.children = [at[child] for child in self.graph.children[load.job.id]]
            node.parents = len(self.graph.parents[load.job.id])

    def stage_in(self, files: Mapping[str, PlacedFile]) -> None:
        """Each input is brought by one node, for all who read it."""
        made, brought = self.graph.producer, dict[str, int]()
        for at in sorted(range(len(self.nodes)), key=lambda at: self.nodes[at].level):
            load = self.work.loads[at]
            needs = [lfn for lfn, _ in load.reads if lfn not in made]
            fresh = [lfn for lfn in needs if lfn not in brought and lfn in files]
            if fresh:
                bringer = self._turn(Kind.STAGE_IN, load.level, TRANSFERS_PER_LEVEL)
                self.nodes[bringer].lfns += fresh
                brought.update(dict.fromkeys(fresh, bringer))
            found = (brought[lfn] for lfn in needs if lfn in brought)
            for bringer in dict.fromkeys(found):
                self._edge(bringer, at)
        for lfn, file in files.items():
            if file.role == "input" and lfn not in brought:  # a program
                bringer = self._turn(Kind.STAGE_IN, 1, TRANSFERS_PER_LEVEL)
                self.nodes[bringer].lfns.append(lfn)

    def stage_out(self, files: Mapping[str, PlacedFile]) -> dict[str, int]:
        """Every result goes as soon as its job is done; the node that takes it."""
        results: dict[str, int] = {}
        for at, load in enumerate(self.work.loads):
            lfns = [lfn for lfn, _ in load.writes if files[lfn].role == "output"]
            if lfns:
                taker = self._turn(Kind.STAGE_OUT, load.level, TRANSFERS_PER_LEVEL)
                self.nodes[taker].lfns += lfns
                self._edge(at, taker)
                results.update(dict.fromkeys(lfns, taker))
        return results

    def clean_up(self, results: Mapping[str, int], delivered: bool) -> None:
        """A file goes when all its users have ended, its stage-out included."""
        users = self._users(results, delivered)
        units: dict[int, list[str]] = {}  # the last user -> files
        level = [node.level + (node.kind is Kind.STAGE_OUT) for node in self.nodes]
        for lfn, every in users.items():
            units.setdefault(max(every, key=level.__getitem__), []).append(lfn)
        waits: dict[int, dict[int, None]] = {}
        for last, lfns in units.items():
            remover = self._turn(Kind.CLEANUP, level[last] + 1, CLEAN_UPS_PER_LEVEL)
            self.nodes[remover].lfns += lfns
            all_users = waits.setdefault(remover, {})
            for lfn in lfns:
                all_users.update(dict.fromkeys(users[lfn]))
        for remover, found in waits.items():
            self.nodes[remover].level = max(self.nodes[at].level for at in found)
            for at in found:
                self._edge(at, remover)

    def _users(
        self, results: Mapping[str, int], delivered: bool
    ) -> dict[str, list[int]]:
        users: dict[str, list[int]] = {}
        for at, load in enumerate(self.work.loads):
            for lfn, _ in load.reads:
                users.setdefault(lfn, []).append(at)
        for at, load in enumerate(self.work.loads):
            for lfn, _ in load.writes:
                if lfn in results:
                    users.setdefault(lfn, []).append(results[lfn])
                elif delivered or not self._is_result(load, lfn):
                    users.setdefault(lfn, [at])
                else:
                    users.pop(lfn, None)  # it stays where the user looks for it
        return users

    @staticmethod
    def _is_result(load: Load, lfn: str) -> bool:
        return any(use.lfn == lfn and use.stage_out for use in load.job.uses)

    def _turn(self, kind: Kind, level: int, most: int) -> int:
        """The node of ``kind`` whose turn it is at ``level``."""
        turn = self._turns.get((kind, level), 0)
        self._turns[kind, level] = turn + 1
        key = (kind, level, turn % most)
        if key not in self._nodes:
            self._nodes[key] = len(self.nodes)
            name = f"{kind.value}_{level - 1}_{turn % most}"
            self.nodes.append(Node(name, kind, level))
        return self._nodes[key]

    def _edge(self, parent: int, child: int) -> None:
        self.nodes[parent].children.append(child)
        self.nodes[child].parents += 1


def roots(nodes: Iterable[Node]) -> list[int]:
    return [at for at, node in enumerate(nodes) if not node.parents]
