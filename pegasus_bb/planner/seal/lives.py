"""Which node brings each file to the tier, which removes it, and which stage-outs copy
it: read from the job lists of the nodes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pegasus_bb.core.errors import NotSealed
from pegasus_bb.model.dag.joblists import JobLists, path_of
from pegasus_bb.model.dag.nodes import Dag
from pegasus_bb.model.dag.roles import CLEANUPS, TRANSFERS, Role, of_role, role_of

PHASES = "phases.json"  # in bb/, of a DAG that is cut into phases


@dataclass(frozen=True)
class Lives:
    """The files of the tier. A file that no node removes stays to the end."""

    size: Mapping[str, int]  # LFN -> bytes
    brings: Mapping[str, Sequence[str]]  # node -> LFNs: its task's, or its transfers'
    removes: Mapping[str, Sequence[str]]  # clean-up node -> LFNs

    def spans(
        self, earliest: Mapping[str, int], latest: Mapping[str, int], end: int
    ) -> dict[str, tuple[int, int]]:
        """LFN -> when the first node that brings it begins, and when the last node that
        removes it ends; ``end`` if none removes it."""
        last: dict[str, int] = {}
        for node, lfns in self.removes.items():
            for lfn in lfns:  # a file that is brought again goes with its last removal
                last[lfn] = max(last.get(lfn, 0), latest.get(node, end))
        first: dict[str, int] = {}
        for node, lfns in self.brings.items():
            for lfn in lfns if node in earliest else ():
                first[lfn] = min(first.get(lfn, end), earliest[node])
        return {lfn: (begin, last.get(lfn, end)) for lfn, begin in first.items()}


def read_lives(
    names: Iterable[str],
    entries: JobLists,
    made: Mapping[str, Iterable[str]],
    scratch: str,
    size: Mapping[str, int],
) -> Lives:
    """``made`` maps each node that runs tasks to the LFNs that these write. ``entries``
    gives the job list of a node, which has its transfers and removals."""
    begins = scratch.rstrip("/") + "/"

    def here(places: Iterable[Mapping[str, object]]) -> list[str]:
        paths = (path_of(str(place.get("url", ""))) for place in places)
        inside = (path[len(begins) :] for path in paths if path.startswith(begins))
        return [lfn for lfn in inside if lfn in size]

    brings: dict[str, list[str]] = {}
    removes: dict[str, list[str]] = {}
    for name in names:
        if name in made:
            brings[name] = [lfn for lfn in made[name] if lfn in size]
        elif role_of(name) in CLEANUPS:
            gone = here(e["target"] for e in entries(name) if "target" in e)
            removes.update({name: gone} if gone else {})
        elif role_of(name) in TRANSFERS:
            dests = (d for e in entries(name) for d in e.get("dest_urls", ()))
            brings[name] = here(dests)
    return Lives(size, {node: lfns for node, lfns in brings.items() if lfns}, removes)


def parents_first(dag: Dag) -> list[str]:
    """The nodes in topological order. Raises NotSealed if there is a cycle."""
    waiting = dict.fromkeys(dag.nodes, 0)
    for children in dag.children.values():
        for child in children:
            waiting[child] += 1
    free = deque(name for name, count in waiting.items() if not count)
    order: list[str] = []
    while free:
        name = free.popleft()
        order.append(name)
        for child in dag.children.get(name, ()):
            waiting[child] -= 1
            if not waiting[child]:
                free.append(child)
    if len(order) < len(waiting):
        stuck = next(name for name, count in waiting.items() if count)
        raise NotSealed(
            f"nodes of this DAG, {stuck} among them, wait for each other in a circle"
        )
    return order


def removals(names: Iterable[str], entries: JobLists) -> dict[str, set[str]]:
    """Clean-up node -> the stage-outs of the files that it removes.

    ``entries`` gives the job list of a node, as pegasus-transfer reads it.
    """
    listed = list(names)
    saved: dict[str, set[str]] = {}  # path on the site -> the stage-outs that copy it
    for name in of_role(listed, Role.STAGE_OUT):
        for entry in entries(name):
            for source in entry.get("src_urls", ()):
                saved.setdefault(path_of(str(source.get("url", ""))), set()).add(name)
    return {
        name: {
            node
            for entry in entries(name)
            if "target" in entry
            for node in _stage_outs_of(entry["target"], saved)
        }
        for name in of_role(listed, *CLEANUPS)
    }


def _stage_outs_of(
    target: Mapping[str, Any], saved: Mapping[str, set[str]]
) -> set[str]:
    path = path_of(str(target.get("url", "")))
    if str(target.get("recursive", "")).lower() != "true":
        return saved.get(path, set())
    below = path.rstrip("/") + "/"
    return {
        name
        for place, names in saved.items()
        if place == path or place.startswith(below)
        for name in names
    }
