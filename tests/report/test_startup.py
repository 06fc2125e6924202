"""What starting jobs took in a run, told apart from waiting for a slot."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pegasus_bb.model.run import Kind, NodeTimes, Run
from pegasus_bb.report.startup import startup_of
from tests.report.made import a_task


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


def test_those_that_waited_for_a_slot_do_not() -> None:
    """Six are ready at once, and two run at a time."""
    wide = [
        node(f"w{n}", 100, 102 + 10 * (n // 2), 112 + 10 * (n // 2)) for n in range(6)
    ]
    chain = [node(f"c{n}", 200 + 10 * n, 203 + 10 * n, 209 + 10 * n) for n in range(4)]
    assert queue_of(*wide, *chain) == 3


def test_where_all_waited_the_quickest_tells() -> None:
    wide = [node(f"w{n}", 100, 102 + 10 * n, 112 + 10 * n) for n in range(6)]
    assert queue_of(*wide) == 2


def test_a_few_nodes_tell_nothing() -> None:
    assert startup_of(Run("demo", nodes=(node("a", 0, 1, 2),))) is None
    assert startup_of(Run("demo")) is None


def test_of_a_short_chain_the_records_tell() -> None:
    """Its log has whole seconds, and each task starts 0.05 s after the one before."""
    tasks = [a_task(node=str(n), start=1.05 * n, duration=1) for n in range(6)]
    nodes = [node(str(n), int(1.05 * n), int(1.05 * n), n + 1) for n in range(3)]
    nodes.append(node("stage_out", 3, 3, 4))
    tasks[3:] = [replace(task, kind=Kind.CLEANUP) for task in tasks[3:]]
    found = startup_of(Run("demo", tasks=tuple(tasks), nodes=tuple(nodes)))
    assert found is not None
    assert found.job == pytest.approx(0.05)


def test_a_queue_is_no_part_of_the_job() -> None:
    """Ten seconds between the tasks of a chain are those of the batch system."""
    tasks = [a_task(node=str(n), start=12 * n, duration=2) for n in range(6)]
    nodes = tuple(node(str(n), 12 * n - 10, 12 * n, 12 * n + 2) for n in range(6))
    few = tuple(replace(task, kind=Kind.CLEANUP) for task in tasks[3:])
    found = startup_of(Run("demo", tasks=(*tasks[:3], *few), nodes=nodes))
    assert found is not None
    assert (found.queue, found.job) == (10, 0.1)
