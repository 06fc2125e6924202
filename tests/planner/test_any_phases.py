"""Whatever DAG a planner writes: in phases it never fills the tier, or is refused.

Tasks, stage-ins and clean-ups in any order, clusters of tasks that span levels, files
that no node removes and clean-ups of many files at once.
"""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.core.errors import NotSealed
from pegasus_bb.model.dag.nodes import Dag, Node
from pegasus_bb.planner.seal.live_bytes import check_phases, live_bytes
from pegasus_bb.planner.seal.lives import Lives
from pegasus_bb.planner.seal.phases import in_phases
from pegasus_bb.planner.seal.view import reachable
from tests.planner.orders import any_order


def any_dag(random: Random) -> tuple[Dag, set[str]]:
    """Up to 14 nodes n0, n1, ... with edges to later ones; some run tasks."""
    names = [f"n{number}" for number in range(random.randrange(1, 15))]
    dag = Dag({name: Node(name, f"{name}.sub") for name in names})
    for place, name in enumerate(names):
        later = [child for child in names[place + 1 :] if random.random() < 0.25]
        if later:
            dag.children[name] = later
    return dag, {name for name in names if random.random() < 0.7}


def any_lives(dag: Dag, random: Random) -> Lives:
    """Each clean-up removes files of nodes that it waits for, as planners see to it."""
    parents: dict[str, list[str]] = {}
    size: dict[str, int] = {}
    brings: dict[str, list[str]] = {}
    removes: dict[str, list[str]] = {}
    for number in range(random.randrange(4)):
        name = f"clean_up_{number}"
        dag.nodes[name] = Node(name, f"{name}.sub")
        for parent in random.sample(list(dag.nodes)[:-1], min(2, len(dag.nodes) - 1)):
            if not parent.startswith("clean_up"):
                dag.children[parent] = [*dag.children.get(parent, ()), name]
    for parent, below in dag.children.items():
        for child in below:
            parents.setdefault(child, []).append(parent)
    tasks = [name for name in dag.nodes if name.startswith("n")]
    for number in range(random.randrange(12)):
        lfn = f"f{number}"
        node = random.choice(tasks)
        size[lfn] = random.randrange(10)
        brings.setdefault(node, []).append(lfn)
        ups = [
            n for n in dag.nodes if n not in tasks and node in reachable([n], parents)
        ]
        if ups and random.random() < 0.9:
            removes.setdefault(random.choice(ups), []).append(lfn)
    return Lives(size, brings, removes)


def largest_phase(dag: Dag, lives: Lives, random: Random) -> int:
    """The most bytes at once in one order that the DAG allows."""
    held = most = 0
    for name, starts in any_order(dag, random):
        lfns = (lives.brings if starts else lives.removes).get(name, ())
        held += sum(lives.size[lfn] for lfn in lfns) * (1 if starts else -1)
        most = max(most, held)
    return most


@given(st.integers(0, 1 << 30), st.integers(0, 60))
def test_no_order_has_more_than_the_limit(seed: int, limit: int) -> None:
    random = Random(seed)
    dag, tasks = any_dag(random)
    lives = any_lives(dag, random)
    try:
        phased, phases = in_phases(dag, lives, tasks, limit)
    except NotSealed as refused:
        assert "do not fit" in str(refused)
        assert sum(lives.size.values()) > limit
        return
    check_phases(phased, phases)
    assert len(live_bytes(phased, phases)) == len(phases.barriers) + 1
    for _ in range(5):
        assert largest_phase(phased, lives, random) <= limit


@given(st.integers(0, 1 << 30))
def test_what_fits_at_once_is_left_as_it_is(seed: int) -> None:
    random = Random(seed)
    dag, tasks = any_dag(random)
    lives = any_lives(dag, random)
    phased, phases = in_phases(dag, lives, tasks, sum(lives.size.values()))
    assert phases.barriers == ()
    assert phased.children == dag.children
