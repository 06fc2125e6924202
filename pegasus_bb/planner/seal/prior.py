"""Nodes prior to a cut: they run on the PFS, before the buffer is asked for.

All that a task prior to the cut waits for is prior to it, and so is what comes after
such tasks alone: their stage-outs, clean-ups and registrations. bb_setup waits for the
tasks among them, and the gate is in the middle of the run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import replace

from pegasus_bb.dag.joblists import Entries
from pegasus_bb.dag.nodes import Dag
from pegasus_bb.errors import NotSealed
from pegasus_bb.model.placement import Opening
from pegasus_bb.planner.seal.view import REGISTERS, View, reach, some

_BRINGS = ("stage_in_", "chmod_")  # for tasks
_STAGES_OUT = "stage_out_"
_FOLLOWS = (_STAGES_OUT, "clean_up_", REGISTERS)
CHORES = (*_BRINGS, *_FOLLOWS)  # what planners add to tasks


def prior_to_the_cut(
    dag: Dag,
    nodes: Mapping[str, str],
    entries: Callable[[str], Entries],
    opening: Opening | None,
) -> set[str]:
    """All such nodes; ``nodes`` are those of jobs, by id, ``entries`` gives a node's
    job list. Linear in nodes and edges. Raises NotSealed where a file would not be
    where it is looked for."""
    if opening is None or not opening.jobs:
        return set()
    tasks = {nodes[job] for job in opening.jobs if job in nodes}
    view = View(dag, set(), "", "")
    above = reach(tasks, view.parents)
    found = {n for n in above if n in tasks or n.startswith(_BRINGS)}
    found |= _following(view, found, set(nodes.values()))
    lost = dict(_out_of_reach(dag, found, entries, opening))
    if lost:
        raise NotSealed(
            f"{some(lost)} moves {some(lost.values())} together with files of jobs on "
            "the other side of the moment when the buffer is asked for, and it would "
            "not be where it is looked for. Plan with --bb-open start"
        )
    return found


def _following(view: View, found: Set[str], tasks: Set[str]) -> set[str]:
    """Chores that wait for nothing but nodes of ``found`` and of each other."""
    children, parents = view.dag.children, view.parents
    follow: set[str] = set()
    waiting = deque(child for name in found for child in children.get(name, ()))
    while waiting:
        name = waiting.popleft()
        if name in follow or name in tasks or not name.startswith(_FOLLOWS):
            continue
        if all(parent in found or parent in follow for parent in parents[name]):
            follow.add(name)
            waiting.extend(children.get(name, ()))
    return follow


def _out_of_reach(
    dag: Dag, prior: Set[str], entries: Callable[[str], Entries], opening: Opening
) -> Iterator[tuple[str, str]]:
    """A node, and a file that it moves on the wrong side."""
    for name in dag.nodes:
        if name.startswith("stage_in_") and name in prior:
            lfns = (str(entry.get("lfn")) for entry in entries(name))
            yield from ((name, lfn) for lfn in lfns if lfn not in opening.used)
        elif name.startswith(_STAGES_OUT) and name not in prior:
            lfns = (str(entry.get("lfn")) for entry in entries(name))
            only_there = opening.used - opening.files
            yield from ((name, lfn) for lfn in lfns if lfn in only_there)


def opened(dag: Dag, prior: Set[str], site: str) -> Dag:
    """``dag`` with bb_setup behind the tasks of ``prior`` and these not behind the
    gate. As it is where the seal has more to say. Linear in nodes and edges."""
    view = View(dag, set(), site, "")
    if not prior or len(view.gated) != 1 or len(view.setups) != 1:
        return dag
    (gated,), (setup,) = view.gated, view.setups
    children = dict(dag.children)
    children[gated] = [c for c in children.get(gated, ()) if c not in prior]
    keys = {setup, *view.deletes, *prior}
    loose = view.behind_gate - reach([gated], children) - keys
    first = [n for n in dag.nodes if n in loose and loose.isdisjoint(view.parents[n])]
    children[gated] += first
    for name in dag.nodes:
        if name in prior and _is_last(name, dag, prior):
            children[name] = [*children.get(name, ()), setup]
    return replace(dag, children=children)


def _is_last(name: str, dag: Dag, prior: Set[str]) -> bool:
    """Whether no task of ``prior`` waits for this one."""
    below = dag.children.get(name, ())
    return is_task(name) and not any(c in prior and is_task(c) for c in below)


def is_task(name: str) -> bool:
    """Of the nodes prior to a cut: whether bb_setup waits for it."""
    return not name.startswith(CHORES)


def lines_to_open(dag: Dag, complete: Dag) -> tuple[list[str], dict[str, set[str]]]:
    """The edges of ``complete`` that ``dag`` lacks, as lines, and those to leave out of
    it: by parent."""
    lines, less = [], {}
    for parent, children in complete.children.items():
        had = dag.children.get(parent, [])
        if children is not had:
            new, old = set(children), set(had)
            lines += [f"PARENT {parent} CHILD {c}" for c in children if c not in old]
            if old - new:
                less[parent] = old - new
    return lines, less


def without_edges(lines: Iterable[bytes], less: Mapping[str, Set[str]]) -> bytes:
    """The text of a .dag without these edges; every other byte as it was."""
    kept = []
    heads = tuple(parent.encode() for parent in less)
    for line in lines:
        if line[:6].upper() == b"PARENT" and any(head in line for head in heads):
            line = _without(line, less)
        kept.append(line)
    return b"".join(kept)


def _without(line: bytes, less: Mapping[str, Set[str]]) -> bytes:
    words = line.decode("utf-8", "surrogateescape").split()
    at = next((i for i, word in enumerate(words) if word.upper() == "CHILD"), 0)
    parents, children = words[1:at], words[at + 1 :]
    if not any(not less[p].isdisjoint(children) for p in parents if p in less):
        return line
    text = ""
    for parent in parents:
        left = [c for c in children if c not in less.get(parent, ())]
        if left:
            text += f"PARENT {parent} CHILD {' '.join(left)}\n"
    return text.encode("utf-8", "surrogateescape")
