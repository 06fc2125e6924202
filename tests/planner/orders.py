"""The orders in which the nodes of a DAG may start and end."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from pegasus_bb.model.dag.nodes import Dag


def any_order(dag: Dag, random: Random) -> Iterator[tuple[str, bool]]:
    """Nodes as they start (True) and end; in half of the orders clean-ups come late."""
    waiting = dict.fromkeys(dag.nodes, 0)
    for below in dag.children.values():
        for child in below:
            waiting[child] += 1
    able = [(name, True) for name, count in waiting.items() if not count]
    late = "clean_up" if random.random() < 0.5 else "no such node"
    while able:
        busy = [at for at in able if not at[0].startswith(late)]
        name, starts = at = random.choice(busy or able)
        able.remove(at)
        yield name, starts
        if starts:
            able.append((name, False))
            continue
        for child in dag.children.get(name, ()):
            waiting[child] -= 1
            if not waiting[child]:
                able.append((child, True))
    assert not any(waiting.values())
