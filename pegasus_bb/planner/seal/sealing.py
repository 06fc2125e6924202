"""Check what cannot be mended, add the gate and the last edges, check again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pegasus_bb.dag.nodes import Dag, Script
from pegasus_bb.dag.roles import Role, role_of
from pegasus_bb.errors import NotSealed
from pegasus_bb.planner.seal.rules import AFTER, BEFORE, Rule
from pegasus_bb.planner.seal.view import DEFERRED, View


def seal(view: View, poll: int = 10, again: int = 0) -> Dag:
    """Its DAG with the gate on create_dir, and bb_delete after all else.

    ``again``: how often the gate and its node are tried once more. The DAG of ``view``
    stays as it is; sealing what is sealed changes nothing. Linear in nodes and edges.
    Raises NotSealed with every broken rule.
    """
    view = _inner_after_gate(view)
    _refuse(view, BEFORE)
    complete = _complete(view, poll, again)
    after = replace(view, dag=complete)
    _refuse(after, AFTER)
    return complete


def check(view: View) -> None:
    """Whether its DAG is sealed, as it must be before it runs. Raises NotSealed."""
    _refuse(view, (*BEFORE, *AFTER))


def _refuse(view: View, rules: Iterable[Rule]) -> None:
    broken = [text for rule in rules for text in rule(view)]
    if broken:
        raise NotSealed(
            "this DAG would put data at risk and is not submitted:\n"
            + "\n".join(f"  - {text}" for text in broken)
        )


def _complete(view: View, poll: int, again: int) -> Dag:
    nodes = dict(view.dag.nodes)
    children = dict(view.dag.children)
    (gated,), (setup,), (delete,) = view.gated, view.setups, view.deletes
    if nodes[gated].pre is None:
        gate = Script(view.gate, "", DEFERRED, poll)
        # A retry of its own would be a second wait, after the deadline that was set.
        nodes[gated] = replace(nodes[gated], pre=gate, retry=again, unless_exit=None)
    if setup not in view.parents.get(gated, ()):
        children[setup] = [*children.get(setup, ()), gated]
    for name in _last(view):
        children[name] = [*children.get(name, ()), delete]
    return replace(view.dag, nodes=nodes, children=children)


def _last(view: View) -> list[str]:
    """Nodes that bb_delete does not wait for yet and that nothing else waits for;
    for bb_setup the gated node does."""
    free = view.dag.nodes.keys() - view.before_delete - view.after_delete
    return [
        name
        for name in view.dag.nodes
        if name in free
        and name not in view.setups
        and not any(child in free for child in view.dag.children.get(name, ()))
    ]


def _inner_after_gate(view: View) -> View:
    """Sub-workflows wait for the gate, although they need no folder of this one's.

    Only those, and the jobs that plan them: what else does not wait is refused.
    """
    dag = view.dag
    waiting = view.users - view.behind_gate
    early = sorted(
        name
        for name, node in dag.nodes.items()
        if name in waiting
        and (node.kind == "SUBDAG" or role_of(name) is Role.SUB_WORKFLOW)
    )
    if not early or len(view.gated) != 1:
        return view
    (gated,) = view.gated
    children = {**dag.children, gated: [*dag.children.get(gated, ()), *early]}
    return replace(view, dag=replace(dag, children=children))
