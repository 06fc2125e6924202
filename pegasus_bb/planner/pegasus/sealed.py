"""The gate and the last edges, appended to a .dag that another planner wrote.

No byte of what it wrote is changed: DAGMan takes lines in any order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pegasus_bb.dag.nodes import Dag
from pegasus_bb.dag.roles import Role, role_of
from pegasus_bb.dag.writer import script_line
from pegasus_bb.planner.seal import Phases, check_phases, sealed
from pegasus_bb.planner.seal.view import View

_PARENTS = 50  # to a line, for people


def lines_to_seal(
    view: View,
    poll: int,
    phased: tuple[Dag, Phases] | None = None,
    again: int = 0,
) -> list[str]:
    """The lines that seal its DAG, and make it run in phases; none where it is sealed.
    ``again``: as ``seal`` has it. Raises NotSealed."""
    wanted = view if phased is None else replace(view, dag=phased[0])
    complete = sealed(_inner_after_gate(wanted), poll, again)
    if phased is not None:
        check_phases(complete, phased[1])
    return [*_gates(view.dag, complete), *_edges(view.dag, complete)]


def _inner_after_gate(view: View) -> View:
    """Sub-workflows wait for the gate, although they need no folder of this one's.

    Only those, and the jobs that plan them: what else does not wait is refused.
    """
    dag = view.dag
    early = [
        name
        for name in view.users - view.behind_gate
        if dag.nodes[name].kind == "SUBDAG" or role_of(name) is Role.SUB_WORKFLOW
    ]
    if not early or len(view.gated) != 1:
        return view
    (gated,) = view.gated
    children = {**dag.children, gated: [*dag.children.get(gated, ()), *sorted(early)]}
    return replace(view, dag=replace(dag, children=children))


def _gates(dag: Dag, complete: Dag) -> Iterator[str]:
    for name, node in complete.nodes.items():
        pre = node.pre
        if pre is not None and dag.nodes[name].pre is None:
            yield script_line("PRE", name, pre)
            before = dag.nodes[name].retry, dag.nodes[name].unless_exit
            if (node.retry, node.unless_exit) != before:
                yield f"RETRY {name} {node.retry}"


def _edges(dag: Dag, complete: Dag) -> Iterator[str]:
    added: dict[str, list[str]] = {}
    for parent, children in complete.children.items():
        for child in children[len(dag.children.get(parent, ())) :]:
            added.setdefault(child, []).append(parent)
    for child, parents in added.items():
        for first in range(0, len(parents), _PARENTS):
            some = " ".join(parents[first : first + _PARENTS])
            yield f"PARENT {some} CHILD {child}"
