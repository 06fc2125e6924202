"""The gate and the last edges, appended to a .dag that another planner wrote.

No byte of what it wrote is changed: DAGMan takes lines in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

from pegasus_bb.planner.dag import Dag
from pegasus_bb.planner.seal import seal
from pegasus_bb.planner.seal.view import View

_PLANS = "pegasus-plan_"  # jobs on the submit host that plan a sub-workflow
_PARENTS = 50  # to a line, for people


def lines_to_seal(
    dag: Dag,
    touching: Set[str],
    site: str,
    gate: str,
    poll: int,
    removes: Mapping[str, Set[str]],
) -> list[str]:
    """The lines that seal ``dag``; none where it is sealed. Raises NotSealed.

    ``removes`` says which stage-outs each clean-up must wait for.
    """
    ordered = _inner_after_gate(dag, View(dag, touching, site, gate))
    complete = seal(ordered, touching, site, gate, poll, removes)
    return [*_gates(dag, complete), *_edges(dag, complete)]


def _inner_after_gate(dag: Dag, view: View) -> Dag:
    """Sub-workflows wait for the gate, although they need no folder of this one's.

    Only those, and the jobs that plan them: what else does not wait is refused.
    """
    early = [
        name
        for name, node in dag.nodes.items()
        if (node.kind == "SUBDAG" or name.startswith(_PLANS)) and name in view.users
        if name not in view.behind_gate
    ]
    if not early or len(view.gated) != 1:
        return dag
    (gated,) = view.gated
    children = {**dag.children, gated: [*dag.children.get(gated, ()), *early]}
    return replace(dag, children=children)


def _gates(dag: Dag, complete: Dag) -> Iterator[str]:
    for name, node in complete.nodes.items():
        pre = node.pre
        if pre is not None and dag.nodes[name].pre is None:
            words = f"{pre.executable} {pre.arguments}".strip()
            yield f"SCRIPT DEFER {pre.defer_status} {pre.defer_time} PRE {name} {words}"
            if node.retry != dag.nodes[name].retry:
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
