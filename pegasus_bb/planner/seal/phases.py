"""Cuts a DAG into phases, so that its files fit into a capacity below their sum.

A phase begins when every clean-up of the phase before has ended. No node is added,
because Pegasus's own tools know only the nodes that pegasus-plan has written. One
clean-up of each phase, the barrier, waits for the others, and the nodes that bring
files in the next phase wait for the barrier: as many edges as nodes, not as pairs of
nodes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from pegasus_bb.core.errors import CatalogError, NotSealed
from pegasus_bb.core.files import read_json
from pegasus_bb.core.units import format_size
from pegasus_bb.decide.liveness import flow, live_bytes, phase_ends
from pegasus_bb.model.dag.nodes import Dag
from pegasus_bb.planner.seal.lives import Lives, parents_first


@dataclass(frozen=True)
class SealedPhases:
    """The promise that the sealed DAG has to keep."""

    limit: int  # bytes on the tier at any time
    barriers: tuple[str, ...]  # clean-up nodes, each the last of its phase
    lives: Lives


def in_phases(
    dag: Dag, lives: Lives, tasks: Set[str], limit: int
) -> tuple[Dag, SealedPhases]:
    """``dag`` with the edges of as few phases as possible, and their promise.

    ``tasks`` are the nodes that run tasks on the tier. Linear in nodes, edges, files.
    Raises NotSealed if a level of the DAG does not fit.
    """
    order = parents_first(dag)
    level = _levels(dag, order, tasks)
    ends = _phase_ends(lives, level, limit)
    phase = {name: bisect_left(ends, level[name]) for name in order}
    barriers, more = _barriers(lives, phase, len(ends) - 1)
    for name in _first_of_phase(dag, order, phase, lives.brings):
        if phase[name]:
            more.setdefault(barriers[phase[name] - 1], []).append(name)
    return dag.with_edges(more), SealedPhases(limit, tuple(barriers), lives)


def _barriers(
    lives: Lives, phase: Mapping[str, int], number: int
) -> tuple[list[str], dict[str, list[str]]]:
    """The barrier of each phase, and the edges that make it the last clean-up."""
    inside: list[list[str]] = [[] for _ in range(number + 1)]
    for name in lives.removes:
        inside[phase[name]].append(name)
    barriers: list[str] = []
    more: dict[str, list[str]] = {}
    for names in inside[:-1]:
        for name in (*names[:-1], *barriers[-1:]):
            more.setdefault(name, []).append(names[-1])
        barriers.append(names[-1])
    return barriers, more


def _levels(dag: Dag, order: list[str], tasks: Set[str]) -> dict[str, int]:
    """The level of each node, counted in tasks from 1. A node before all tasks has the
    level of the first task that needs it, any other that of the last one above it."""
    level = dict.fromkeys(order, 0)
    for name in order:
        level[name] += name in tasks
        for child in dag.children.get(name, ()):
            level[child] = max(level[child], level[name])
    for name in reversed(order):
        if not level[name]:
            below = (level[child] for child in dag.children.get(name, ()))
            level[name] = min(below, default=1)
    return level


def _phase_ends(lives: Lives, level: dict[str, int], limit: int) -> list[int]:
    end = max(level.values())
    born, dying = flow(lives.spans(level, level, end), lives.size, end)
    ends = phase_ends(born, dying, limit)
    if ends is None:
        most = format_size(max(live_bytes(born, dying)))
        raise NotSealed(
            f"the files on the tier do not fit into {format_size(limit)} ({limit} "
            f"bytes) in whatever phases this DAG has: level by level, and with every "
            f"clean-up at once, {most} are needed. More capacity, or --cleanup leaf, "
            "with which the files that are used the least go to the PFS"
        )
    return ends


def _first_of_phase(
    dag: Dag, order: Iterable[str], phase: dict[str, int], bring: Iterable[str]
) -> list[str]:
    """The nodes of ``bring`` with none of them above in the same phase."""
    wanted = set(bring)
    behind = set[str]()
    first = []
    for name in order:
        if name in wanted and name not in behind:
            first.append(name)
        if name in wanted or name in behind:
            same = (c for c in dag.children.get(name, ()) if phase[c] == phase[name])
            behind.update(same)
    return first


# ArithmeticError: json parses Infinity as a number.
_DAMAGED = (
    OSError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
)


def phases_json(phases: SealedPhases) -> dict[str, Any]:
    lives = phases.lives
    used = {lfn: None for lfns in lives.brings.values() for lfn in lfns}
    return {
        "version": 1,
        "limit": phases.limit,
        "barriers": list(phases.barriers),
        "sizes": {lfn: lives.size[lfn] for lfn in used},
        "brings": {node: list(lfns) for node, lfns in lives.brings.items()},
        "removes": {node: list(lfns) for node, lfns in lives.removes.items()},
    }


def read_phases(file: str) -> SealedPhases:
    """Raises CatalogError if ``file`` is damaged."""
    try:
        data = read_json(file)
        sizes = {str(lfn): int(size) for lfn, size in data["sizes"].items()}
        lives = Lives(sizes, _names(data["brings"], sizes), _names(data["removes"]))
        return SealedPhases(
            int(data["limit"]), tuple(map(str, data["barriers"])), lives
        )
    except _DAMAGED as error:
        raise CatalogError(
            f"does not say how the run's phases end ({error!r})",
            file,
            would_do="plan again",
        ) from error


def _names(
    data: Mapping[str, Any], sizes: Mapping[str, int] | None = None
) -> dict[str, list[str]]:
    by_node = {str(node): list(map(str, lfns)) for node, lfns in data.items()}
    if sizes is not None:
        unknown = {lfn for lfns in by_node.values() for lfn in lfns} - sizes.keys()
        if unknown:
            raise KeyError(min(unknown))
    return by_node
