"""``--bb-drain off``: no result leaves before the last job has computed.

No node is added, as phases.py says why. One stage-out waits for all tasks and the
others wait for that one: as many edges as nodes, not as many as pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from pegasus_bb.dag.joblists import Entries
from pegasus_bb.dag.nodes import Dag
from pegasus_bb.dag.roles import RESERVATION, Role, of_role, role_of
from pegasus_bb.errors import NotSealed
from pegasus_bb.planner.seal.view import reach, some


def with_late_results(
    dag: Dag, tasks: Iterable[str], entries: Callable[[str], Entries]
) -> Dag:
    """``tasks`` are the nodes that run jobs of the user. Linear. Raises NotSealed where
    a task waits for a stage-out."""
    every = {name for name in tasks if role_of(name) not in RESERVATION}
    stage_outs = of_role(dag.nodes, Role.STAGE_OUT)
    early = reach(stage_outs, dag.children) & every
    if early:
        raise NotSealed(
            f"--bb-drain off: {some(early)} would wait for a stage-out that waits "
            "for all jobs; --bb-drain now"
        )
    if not stage_outs:
        return dag
    first = min(stage_outs, key=lambda name: len(entries(name)))
    children = dict(dag.children)
    for name in every:
        below = children.get(name, [])
        if first not in below and not every.intersection(below):
            children[name] = [*below, first]
    others = [name for name in stage_outs if name != first]
    children[first] = [*children.get(first, ()), *others]
    return replace(dag, children=children)
