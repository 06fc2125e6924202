"""When the nodes of a run were ready: told by the DAG file and the job state log.

A node is ready when its parents have ended. What lies between that and its submission,
but for its PRE script, is of who runs the DAG: DAGMan's limits on jobs, on idle ones
and on scripts, and its looks at intervals; or the slots of the local engine.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pegasus_bb.model.run import NodeTimes

_LINE_LIMIT = 16 << 20  # characters; a line may name all nodes of a level


def with_ready(
    nodes: Sequence[NodeTimes], dag: Path, begins: Sequence[float]
) -> tuple[NodeTimes, ...]:
    """``nodes`` of ``dag``, each with when it was ready.

    ``begins``: when an engine began to work on it. What was ready before that counts
    from there: nobody could submit it. Without the file nothing is known.
    """
    ended = {node.node: node.ended for node in nodes if node.ended is not None}
    try:
        parents = _last_parents(dag, ended)
    except OSError:
        return tuple(nodes)
    begins = sorted(begins)
    return tuple(
        replace(node, ready=_ready(node, parents.get(node.node), begins))
        for node in nodes
    )


def _ready(
    node: NodeTimes, parents: float | None, begins: Sequence[float]
) -> float | None:
    """``node.ready`` is when its attempt before this one had ended."""
    if node.submitted is None:
        return None
    before = bisect_right(begins, node.submitted)
    begun = begins[before - 1] if before else None
    return max((t for t in (parents, begun, node.ready) if t is not None), default=None)


def _last_parents(dag: Path, ended: Mapping[str, float]) -> dict[str, float]:
    """Node -> when the last of its parents had ended."""
    last: dict[str, float] = {}
    for parents, children in _edges(dag):
        time = max((ended[name] for name in parents if name in ended), default=None)
        if time is not None:
            last.update({c: max(time, last.get(c, time)) for c in children})
    return last


def _edges(dag: Path) -> Iterator[tuple[list[str], list[str]]]:
    """``PARENT a b CHILD c d``, in letters of either case."""
    for words in _words(dag):
        upper = [word.upper() for word in words]
        if upper[:1] == ["PARENT"] and "CHILD" in upper:
            middle = upper.index("CHILD")
            yield words[1:middle], words[middle + 1 :]


def _words(dag: Path) -> Iterator[list[str]]:
    with dag.open(encoding="utf-8", errors="replace") as source:
        while line := source.readline(_LINE_LIMIT):
            if line.lstrip()[:6].upper() == "PARENT":
                yield line.split()
