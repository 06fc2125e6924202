"""Checkpoints on shared and local buffers, with faults, parity and little room."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace

import numpy as np
import pytest
from pegasus_bb_lab.mix.burst_buffers import Buffer, build_buffer
from pegasus_bb_lab.mix.pipelines import Checkpoint
from pegasus_bb_lab.mix.single_run import dump_bandwidth
from pegasus_bb_lab.model.machine import LOCAL, ROUND_ROBIN, SHARED, Machine

from lab.tests.mix.machines import GB, MACHINE, with_buffer
from pegasus_bb.forecast.kernel import Process, Simulation, Steps

EVEN = with_buffer(MACHINE, SHARED, placement=ROUND_ROBIN)


class Site:
    def __init__(self, machine: Machine, architecture: str) -> None:
        self.simulation = Simulation()
        rng = np.random.default_rng(0)
        self.buffer: Buffer = build_buffer(architecture, self.simulation, machine, rng)
        self.log: list[tuple[str, float]] = []

    def write(self, name: str, checkpoint: Checkpoint, at: float = 0) -> Process:
        return self._start(name, checkpoint, at, self.buffer.write)

    def read(self, name: str, checkpoint: Checkpoint, at: float = 0) -> Process:
        return self._start(name, checkpoint, at, self.buffer.read)

    def at(self, time: float, act: Callable[[], object]) -> None:
        def steps() -> Steps:
            yield time
            act()

        self.simulation.start(steps())

    def run(self) -> list[tuple[str, float]]:
        self.simulation.run()
        return self.log

    def _start(
        self,
        name: str,
        checkpoint: Checkpoint,
        at: float,
        move: Callable[[Checkpoint], Generator[object, None, None]],
    ) -> Process:
        def steps() -> Steps:
            yield at
            yield from move(checkpoint)  # type: ignore[misc]
            self.log.append((name, round(self.simulation.now, 6)))

        return self.simulation.start(steps())


def of(nodes: int, per_node: float = 50 * GB) -> Checkpoint:
    return Checkpoint(nodes, per_node, 0.0)


def test_a_local_dump_takes_as_long_for_any_number_of_nodes() -> None:
    site = Site(MACHINE, LOCAL)
    site.write("small", of(1))
    site.write("large", of(99))
    assert site.run() == [("small", 50), ("large", 50)]
    assert dump_bandwidth(MACHINE, LOCAL, 100, 50 * GB, 0) == pytest.approx(100 * GB)


def test_a_small_job_writes_faster_on_shared_nodes() -> None:
    """5 nodes of 10 stripes have all 10 buffer nodes to themselves."""
    site = Site(EVEN, SHARED)
    site.write("small", of(5))
    assert site.run() == [("small", 5 * 50 / 50)]  # its network: 5 x 10 GB/s


def test_two_jobs_share_the_buffer_nodes() -> None:
    """Each alone would take 25 s."""
    site = Site(EVEN, SHARED)
    site.write("first", of(50))
    site.write("second", of(50), at=5)
    assert site.run() == [("first", 45), ("second", 50)]


def test_reading_is_faster_than_writing() -> None:
    site, checkpoint = Site(EVEN, SHARED), of(60)
    site.write("written", checkpoint)
    site.read("read", checkpoint, at=100)
    assert site.run() == [("written", 30), ("read", 125)]


def test_all_nodes_write_faster_locally_than_to_random_nodes() -> None:
    local = dump_bandwidth(MACHINE, LOCAL, 100, 50 * GB, 0)
    shared = [dump_bandwidth(MACHINE, SHARED, 100, 50 * GB, seed) for seed in range(9)]
    assert max(shared) < local


def test_parity_takes_its_part_of_the_bandwidth() -> None:
    machine = replace(EVEN, parity=0.2)
    for architecture in (SHARED, LOCAL):
        whole = dump_bandwidth(EVEN, architecture, 100, 50 * GB, 0)
        rest = dump_bandwidth(machine, architecture, 100, 50 * GB, 0)
        assert rest == pytest.approx(0.8 * whole)


@pytest.mark.parametrize(("parity", "is_lost"), [(0.0, True), (0.2, False)])
def test_a_buffer_node_that_fails_takes_the_dump_with_it(
    parity: float, is_lost: bool
) -> None:
    site, checkpoint = Site(replace(EVEN, parity=parity), SHARED), of(50)
    site.write("dump", checkpoint)
    site.at(10, lambda: site.buffer.buffer_node_fails(3))
    ((_, end),) = site.run()
    assert (end == 10) is is_lost
    assert checkpoint.on_buffer is not is_lost


def test_a_buffer_node_that_fails_takes_what_is_stored_there() -> None:
    site, wide, narrow = Site(EVEN, SHARED), of(50), of(1)
    site.write("wide", wide)
    site.write("narrow", narrow)  # on nodes 0 and 1
    site.at(100, lambda: site.buffer.buffer_node_fails(7))
    site.run()
    assert not wide.on_buffer
    assert narrow.on_buffer


def test_a_node_that_is_down_gets_no_stripes() -> None:
    """All on the 5 nodes that are up: half the bandwidth."""
    site, checkpoint = Site(EVEN, SHARED), of(50)
    for number in range(5):
        site.buffer.buffer_node_fails(number)
    site.write("dump", checkpoint)
    assert site.run() == [("dump", 50)]


def test_there_is_no_room_without_a_node_that_is_up() -> None:
    site = Site(EVEN, SHARED)
    for number in range(10):
        site.buffer.buffer_node_fails(number)
    assert not site.buffer.make_room(of(1))
    site.buffer.buffer_node_is_back(4)
    assert site.buffer.make_room(of(1))


def test_a_full_buffer_gives_up_the_oldest_that_the_pfs_has_too() -> None:
    """It holds two checkpoints."""
    site = Site(with_buffer(EVEN, SHARED, capacity=100 * GB), SHARED)
    old, drained, new = of(10), of(10), of(10)
    site.write("old", old)
    site.write("drained", drained, at=100)
    site.run()
    assert not site.buffer.make_room(new)
    drained.on_pfs = True
    assert site.buffer.make_room(new)
    assert (old.on_buffer, drained.on_buffer) == (True, False)


def test_a_dump_that_is_ended_leaves_its_room() -> None:
    site = Site(with_buffer(EVEN, SHARED, capacity=50 * GB), SHARED)
    dump = site.write("dump", of(10))
    site.at(1, dump.end)
    assert site.run() == []
    assert site.buffer.make_room(of(10))


def test_two_checkpoints_have_to_fit_on_a_local_buffer() -> None:
    for capacity, fits in ((99 * GB, False), (100 * GB, True)):
        buffer = Site(with_buffer(MACHINE, LOCAL, capacity=capacity), LOCAL).buffer
        assert buffer.make_room(of(1)) is fits


@pytest.mark.parametrize(
    ("architecture", "parity", "stays"),
    [(LOCAL, 0.0, False), (LOCAL, 0.2, True), (SHARED, 0.0, True)],
)
def test_what_a_compute_node_takes_with_it(
    architecture: str, parity: float, stays: bool
) -> None:
    site, checkpoint = Site(replace(MACHINE, parity=parity), architecture), of(10)
    site.write("dump", checkpoint)
    site.run()
    site.buffer.compute_node_fails(checkpoint)
    site.buffer.compute_node_fails(None)
    assert checkpoint.on_buffer is stays
