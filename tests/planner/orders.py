"""Any workflow, and the orders in which the nodes of a DAG may start and end."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from hypothesis import strategies as st

from pegasus_bb.model.dag.nodes import Dag

Data = dict[str, Any]


@st.composite
def workflows(draw: st.DrawFn, *names: str) -> list[Data]:
    """Up to 12 jobs of these programs; each reads inputs and files of earlier jobs."""
    jobs: list[Data] = []
    made: list[str] = []
    for number in range(draw(st.integers(1, 12))):
        known = st.sampled_from(["in0", "in1", "in2", *made])
        uses: list[Data] = [
            {"lfn": lfn, "type": "input"}
            for lfn in draw(st.lists(known, unique=True, max_size=4))
        ]
        for place in range(draw(st.integers(0, 2))):
            lfn = f"f{number}-{place}"
            size = draw(st.integers(0, 60))
            how = {"stageOut": draw(st.booleans()), "metadata": {"size": size}}
            uses.append({"lfn": lfn, "type": "output", **how})
            made.append(lfn)
        name = draw(st.sampled_from(names))
        jobs.append({"type": "job", "name": name, "id": f"J{number}", "uses": uses})
    return jobs


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
