"""Checkpoints on shared and local buffers, with faults, parity and little room."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from pegasus_bb_lab.mix.burst_buffers import Buffer, build_buffer
from pegasus_bb_lab.mix.pipelines import Checkpoint
from pegasus_bb_lab.mix.single_run import dump_bandwidth
from pegasus_bb_lab.model.machine import LOCAL, ROUND_ROBIN, SHARED, Machine

from lab.tests.mix.machines import GB, MACHINE, with_buffer
from pegasus_bb.forecast.simulated_clock import Simulation, Steps

EVEN = with_buffer(MACHINE, SHARED, placement=ROUND_ROBIN)


class Site:
    def __init__(self, machine: Machine, architecture: str) -> None:
        self.simulation = Simulation()
        rng = np.random.default_rng(0)
        self.buffer: Buffer = build_buffer(architecture, self.simulation, machine, rng)
        self.log: list[tuple[str, float]] = []

    def write(self, name: str, checkpoint: Checkpoint) -> None:
        def steps() -> Steps:
            yield from self.buffer.write(checkpoint)
            self.log.append((name, round(self.simulation.now, 6)))

        self.simulation.start(steps())

    def at(self, time: float, act: Callable[[], object]) -> None:
        def steps() -> Steps:
            yield time
            act()

        self.simulation.start(steps())

    def run(self) -> list[tuple[str, float]]:
        self.simulation.run()
        return self.log


def of(nodes: int, per_node: float = 50 * GB) -> Checkpoint:
    return Checkpoint(nodes, per_node, 0.0)


def test_a_local_dump_takes_as_long_for_any_number_of_nodes() -> None:
    site = Site(MACHINE, LOCAL)
    site.write("small", of(1))
    site.write("large", of(99))
    assert site.run() == [("small", 50), ("large", 50)]
    assert dump_bandwidth(MACHINE, LOCAL, 100, 50 * GB, 0) == pytest.approx(100 * GB)


@pytest.mark.parametrize(("parity", "is_lost"), [(0.0, True), (0.2, False)])
def test_a_buffer_node_that_fails_takes_the_dump_with_it(
    parity: float, is_lost: bool
) -> None:
    site = Site(replace(EVEN, parity=parity), SHARED)
    checkpoint = of(50)
    site.write("dump", checkpoint)
    site.at(10, lambda: site.buffer.buffer_node_fails(3))
    ((_, end),) = site.run()
    assert (end == 10) is is_lost
    assert checkpoint.on_buffer is not is_lost


@pytest.mark.parametrize(
    ("architecture", "parity", "stays"),
    [(LOCAL, 0.0, False), (LOCAL, 0.2, True), (SHARED, 0.0, True)],
)
def test_what_a_compute_node_takes_with_it(
    architecture: str, parity: float, stays: bool
) -> None:
    site = Site(replace(MACHINE, parity=parity), architecture)
    checkpoint = of(10)
    site.write("dump", checkpoint)
    site.run()
    site.buffer.compute_node_fails(checkpoint)
    site.buffer.compute_node_fails(None)
    assert checkpoint.on_buffer is stays
