"""What starting jobs took in a run, told apart from waiting for a slot."""

from __future__ import annotations

from pegasus_bb.model.run import NodeTimes, Run
from pegasus_bb.report.startup import startup_of


def node(name: str, ready: float, starts: float, ends: float) -> NodeTimes:
    return NodeTimes(name, submitted=ready, executing=starts, terminated=ends)


def queue_of(*nodes: NodeTimes) -> float:
    found = startup_of(Run("demo", nodes=nodes))
    assert found is not None
    return found.queue


def test_nodes_that_found_a_slot_free_say_how_long_starting_takes() -> None:
    """A chain, each of whose nodes the batch system finds after a while."""
    chain = [
        node(str(n), 20 * n, 20 * n + 6 + 2 * (n % 2), 20 * n + 19) for n in (1, 2)
    ]
    later = [
        node(str(n), 20 * n, 20 * n + 6 + 2 * (n % 2), 20 * n + 19) for n in (3, 4)
    ]
    assert queue_of(*chain, *later) == 7


def test_nodes_that_waited_for_a_slot_do_not_count_as_starting() -> None:
    """Six are ready at once, and two run at a time."""
    wide = [
        node(f"w{n}", 100, 102 + 10 * (n // 2), 112 + 10 * (n // 2)) for n in range(6)
    ]
    chain = [node(f"c{n}", 200 + 10 * n, 203 + 10 * n, 209 + 10 * n) for n in range(4)]
    assert queue_of(*wide, *chain) == 3
