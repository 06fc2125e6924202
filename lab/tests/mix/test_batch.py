"""Which job starts when, and what a node that fails does to it."""

from __future__ import annotations

import pytest
from pegasus_bb_lab.mix.batch import Batch
from pegasus_bb_lab.mix.pipelines import Pipeline
from pegasus_bb_lab.model.mix import FCFS, FIRST_FIT

from pegasus_bb.forecast.simulated_clock import Simulation, Steps

# Name, nodes, seconds; there are ten nodes.
THREE = (("a", 6, 10.0), ("large", 8, 10.0), ("small", 4, 30.0))
TWO = (("a", 10, 10.0), ("b", 9, 3.0))
ORDERS = {
    "first fit starts what fits": (
        (FIRST_FIT, THREE, None),
        [("a", 0), ("small", 0), ("large", 30)],
    ),
    "first come, first served waits for the first": (
        (FCFS, THREE, None),
        [("a", 0), ("large", 10), ("small", 20)],
    ),
    "the job of a node that fails is the next to start": (
        (FIRST_FIT, THREE, (5, 0, 1.0)),
        [("a", 0), ("small", 0), ("a", 6), ("large", 30)],
    ),
    "another job runs until the node is repaired": (
        (FIRST_FIT, TWO, (5, 3, 100.0)),
        [("a", 0), ("b", 5), ("a", 105)],
    ),
}


@pytest.mark.parametrize("order", ORDERS)
def test_the_order_of_jobs(order: str) -> None:
    """The fault is (time, node, repair)."""
    (policy, jobs, fault), expected = ORDERS[order]
    simulation = Simulation()
    log = []

    def job(pipeline: Pipeline) -> Steps:
        log.append((pipeline.name, simulation.now))
        yield pipeline.work
        pipeline.is_complete = True

    def fail(time: float, node: int, repair: float) -> Steps:
        yield time
        batch.node_fails(node, repair)

    batch = Batch(simulation, 10, policy, job)
    batch.queue += [Pipeline(*each) for each in jobs]
    batch.schedule()
    if fault is not None:
        simulation.start(fail(*fault))
    simulation.run()
    assert (batch.free, batch.down) == (10, 0)
    assert log == expected
