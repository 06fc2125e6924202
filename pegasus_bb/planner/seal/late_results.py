"""``--bb-drain off``: no result leaves before the last job has computed.

No node is added; phases.py says why. One stage-out waits for all tasks, and the others
wait for that one: as many edges as nodes, not as pairs of nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from pegasus_bb.core.errors import NotSealed
from pegasus_bb.model.dag.joblists import Entries
from pegasus_bb.model.dag.nodes import Dag
from pegasus_bb.model.dag.roles import RESERVATION, Role, of_role, role_of
from pegasus_bb.planner.seal.view import abbreviated, reachable


def with_late_results(
    dag: Dag, tasks: Iterable[str], entries: Callable[[str], Entries]
) -> Dag:
    """``dag`` with these edges; ``tasks`` are the nodes that run jobs of the user.
    Linear. Raises NotSealed if a task waits for a stage-out."""
    users = {name for name in tasks if role_of(name) not in RESERVATION}
    stage_outs = of_role(dag.nodes, Role.STAGE_OUT)
    early = reachable(stage_outs, dag.children) & users
    if early:
        raise NotSealed(
            f"--bb-drain off: {abbreviated(early)} would wait for a stage-out that "
            "waits for all jobs; --bb-drain now"
        )
    if not stage_outs:
        return dag
    first = min(stage_outs, key=lambda name: len(entries(name)))
    children = dict(dag.children)
    for name in users:
        below = children.get(name, [])
        if first not in below and not users.intersection(below):
            children[name] = [*below, first]
    others = [name for name in stage_outs if name != first]
    children[first] = [*children.get(first, ()), *others]
    return replace(dag, children=children)
