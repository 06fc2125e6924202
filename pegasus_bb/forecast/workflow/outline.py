"""The executable workflow as a planner makes it: jobs, staging, clean-ups, edges.

It is the same in every mode; what each node moves is not (``work``). As in Pegasus, a
few staging and clean-up nodes serve each level, and each waits for its files alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pegasus_bb.forecast.workflow.workload import JobLoad, Workload
from pegasus_bb.model.placement import PlacedFile
from pegasus_bb.model.run import Kind

TRANSFERS_PER_LEVEL = 4  # nodes
CLEAN_UPS_PER_LEVEL = 2
# As Pegasus has them: of two nodes that are ready the higher goes first.
PRIORITY = {Kind.STAGE_IN: 700, Kind.STAGE_OUT: 900, Kind.CLEANUP: 1000}


@dataclass(slots=True)
class OutlineNode:
    kind: Kind
    level: int  # of the tasks that it serves
    load: JobLoad | None  # of a task
    children: list[int]  # places in Outline.nodes
    parents: int
    lfns: Sequence[str] = ()  # that it brings, saves or removes
    number: int = 0  # of those of its kind and level

    @property
    def name(self) -> str:
        if self.load is not None:
            return f"{self.load.job.name}_{self.load.job.id}"
        return f"{self.kind.value}_{self.level}_{self.number}"


@dataclass(frozen=True)
class Outline:
    nodes: list[OutlineNode]  # tasks first, in the order of the workflow
    tasks: int


def outline(
    work: Workload, files: Mapping[str, PlacedFile], cleanup: str, *, delivered: bool
) -> Outline:
    """Draw the executable workflow. Linear in jobs and uses. ``delivered``: results are
    staged out."""
    drawn = _Drawing(work, files, delivered=delivered)
    drawn.stage_in()
    results = drawn.stage_out() if delivered else {}
    if cleanup in ("inplace", "constraint"):
        drawn.clean_up(results)
    return Outline(drawn.nodes, len(work.loads))


class _Drawing:
    def __init__(
        self, work: Workload, files: Mapping[str, PlacedFile], *, delivered: bool
    ) -> None:
        self.work, self.files, self.delivered = work, files, delivered
        graph = work.graph
        at = {load.job.id: number for number, load in enumerate(work.loads)}
        children = graph.children
        parents = graph.parents
        self.nodes = [
            OutlineNode(
                Kind.COMPUTE,
                load.level,
                load,
                [at[child] for child in children[ident]],
                len(parents[ident]),
            )
            for ident, load in zip(at, work.loads, strict=True)
        ]

    def stage_in(self) -> None:
        """Let one node bring each input, for all its readers."""
        files = self.files
        made = self.work.graph.producer
        brought = dict[str, int]()
        bringers = _Bundles(self.nodes, Kind.STAGE_IN, TRANSFERS_PER_LEVEL)
        loads = self.work.loads
        for at in sorted(range(len(loads)), key=lambda at: loads[at].level):
            load = loads[at]
            needs = [lfn for lfn, _ in load.reads if lfn not in made]
            if not needs:
                continue
            fresh = [lfn for lfn in needs if lfn not in brought and lfn in files]
            if fresh:
                bringer = bringers.next(load.level, fresh)
                brought.update(dict.fromkeys(fresh, bringer))
            for bringer in {brought[lfn]: None for lfn in needs if lfn in brought}:
                self._edge(bringer, at)
        for lfn, file in files.items():
            if file.role == "input" and lfn not in brought:  # a program
                bringers.next(1, [lfn])

    def stage_out(self) -> dict[str, int]:
        """Send every result as soon as its job is done; return the node that takes
        it."""
        results: dict[str, int] = {}
        takers = _Bundles(self.nodes, Kind.STAGE_OUT, TRANSFERS_PER_LEVEL)
        for at, load in enumerate(self.work.loads):
            lfns = [lfn for lfn, _ in load.writes if self.files[lfn].role == "output"]
            if lfns:
                taker = takers.next(load.level, lfns)
                self._edge(at, taker)
                for lfn in lfns:
                    results[lfn] = taker
        return results

    def clean_up(self, results: Mapping[str, int]) -> None:
        """Remove a file when all its users have ended, its stage-out included."""
        users = self._users(results)
        nodes = self.nodes
        tasks = len(self.work.loads)
        level = [node.level for node in nodes[:tasks]]
        level += [node.level + 1 for node in nodes[tasks:]]
        units: dict[int, list[str]] = {}  # the last user -> files
        for lfn, every in users.items():
            last = every[0] if len(every) == 1 else max(every, key=level.__getitem__)
            units.setdefault(last, []).append(lfn)
        waits: dict[int, dict[int, None]] = {}
        removers = _Bundles(nodes, Kind.CLEANUP, CLEAN_UPS_PER_LEVEL)
        for last, lfns in units.items():
            all_users = waits.setdefault(removers.next(level[last], lfns), {})
            for lfn in lfns:
                for at in users[lfn]:
                    all_users[at] = None
        for remover, found in waits.items():
            for at in found:
                self._edge(at, remover)

    def _users(self, results: Mapping[str, int]) -> dict[str, list[int]]:
        users: dict[str, list[int]] = {}
        for at, load in enumerate(self.work.loads):
            for lfn, _ in load.reads:
                users.setdefault(lfn, []).append(at)
        for at, load in enumerate(self.work.loads):
            for lfn, _ in load.writes:
                if lfn in results:
                    users.setdefault(lfn, []).append(results[lfn])
                elif self.delivered or not _is_result(load, lfn):
                    users.setdefault(lfn, [at])
                else:
                    users.pop(lfn, None)  # it stays where the user looks for it
        return users

    def _edge(self, parent: int, child: int) -> None:
        self.nodes[parent].children.append(child)
        self.nodes[child].parents += 1


def _is_result(load: JobLoad, lfn: str) -> bool:
    return any(use.lfn == lfn and use.stage_out for use in load.job.uses)


class _Bundles:
    """A few nodes of one kind for each level; they take turns."""

    def __init__(self, nodes: list[OutlineNode], kind: Kind, most: int) -> None:
        self._nodes, self._kind, self._most = nodes, kind, most
        # Level -> its nodes: the place of each, and the files that it has to do.
        self._levels: dict[int, list[tuple[int, list[str]]]] = {}
        self._turns = Counter[int]()

    def next(self, level: int, lfns: Iterable[str]) -> int:
        """Return the node of the next turn at ``level``, which gets ``lfns`` to do."""
        turn = self._turns[level]
        self._turns[level] += 1
        bundles = self._levels.setdefault(level, [])
        if turn < self._most:
            found = list[str]()
            bundles.append((len(self._nodes), found))
            self._nodes.append(OutlineNode(self._kind, level, None, [], 0, found, turn))
        at, files = bundles[turn % self._most]
        files += lfns
        return at


def roots(nodes: Iterable[OutlineNode]) -> list[int]:
    return [at for at, node in enumerate(nodes) if not node.parents]
