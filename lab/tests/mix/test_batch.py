"""Which job starts when, and what a node that fails does to it."""

from __future__ import annotations

from pegasus_bb_lab.mix.batch import Batch
from pegasus_bb_lab.mix.pipelines import Pipeline
from pegasus_bb_lab.model.mix import FCFS, FIRST_FIT

from pegasus_bb.forecast.simulated_clock import Simulation, Steps

Log = list[tuple[str, float]]


def started(
    policy: str, *jobs: tuple[str, int, float], fault: tuple[float, int, float] | None
) -> tuple[Log, Batch]:
    """When each of (name, nodes, seconds) starts on ten nodes; the fault is (time,
    node, repair)."""
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
    return log, batch


THREE = (("a", 6, 10.0), ("large", 8, 10.0), ("small", 4, 30.0))


def test_first_fit_starts_what_fits() -> None:
    log, _ = started(FIRST_FIT, *THREE, fault=None)
    assert log == [("a", 0), ("small", 0), ("large", 30)]


def test_first_come_first_served_waits_for_the_first() -> None:
    log, _ = started(FCFS, *THREE, fault=None)
    assert log == [("a", 0), ("large", 10), ("small", 20)]


def test_the_job_of_a_node_that_fails_is_the_next_to_start() -> None:
    log, _ = started(FIRST_FIT, *THREE, fault=(5, 0, 1.0))
    assert log == [("a", 0), ("small", 0), ("a", 6), ("large", 30)]


def test_another_job_runs_until_the_node_is_repaired() -> None:
    jobs = (("a", 10, 10.0), ("b", 9, 3.0))
    log, _ = started(FIRST_FIT, *jobs, fault=(5, 3, 100.0))
    assert log == [("a", 0), ("b", 5), ("a", 105)]
