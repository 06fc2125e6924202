"""Burst buffers that take checkpoints: one that all jobs share, or one in each node."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Protocol

import numpy as np

from pegasus_bb.forecast.simulated_clock import Simulation, Wait
from pegasus_bb_lab.mix.pipelines import Checkpoint
from pegasus_bb_lab.mix.shared_servers import SharedServers, Transfer
from pegasus_bb_lab.mix.stripes import Counts, Stripes
from pegasus_bb_lab.model.machine import LOCAL, Machine

Move = Generator[float | Wait, None, None]
_READ = 0
_WRITE = 1


class Buffer(Protocol):
    nodes: int  # that can fail by themselves, besides compute nodes

    def seconds(self, nodes: int, per_node: float) -> float:
        """At least, for a checkpoint of so many bytes of each of so many nodes."""

    def make_room(self, checkpoint: Checkpoint) -> bool:
        """Whether it can be written now."""

    def write(self, checkpoint: Checkpoint) -> Move:
        """Afterwards it is ``on_buffer``, if no fault came."""

    def read(self, checkpoint: Checkpoint) -> Move:
        """Afterwards it is still ``on_buffer``, if no fault came."""

    def drop(self, checkpoint: Checkpoint) -> None:
        """It is on the buffer no longer."""

    def compute_node_fails(self, newest: Checkpoint | None) -> None:
        """One of the nodes that wrote ``newest``."""

    def buffer_node_fails(self, number: int) -> None: ...

    def buffer_node_is_back(self, number: int) -> None: ...


class LocalBuffer:
    """Flash storage in each compute node: as fast as there are nodes in the job.

    A checkpoint is read where it was written, as fast as any; two have to fit.
    """

    nodes = 0

    def __init__(self, machine: Machine) -> None:
        one = machine.buffers[LOCAL]
        useful = 1 - machine.parity
        self._read, self._write = one.read * useful, one.write * useful
        self._capacity, self._is_safe = one.capacity * useful, machine.parity > 0

    def seconds(self, nodes: int, per_node: float) -> float:
        return per_node / self._write

    def make_room(self, checkpoint: Checkpoint) -> bool:
        return 2 * checkpoint.per_node <= self._capacity

    def write(self, checkpoint: Checkpoint) -> Move:
        yield checkpoint.per_node / self._write
        checkpoint.on_buffer = True

    def read(self, checkpoint: Checkpoint) -> Move:
        yield checkpoint.per_node / self._read

    def drop(self, checkpoint: Checkpoint) -> None:
        checkpoint.on_buffer = False

    def compute_node_fails(self, newest: Checkpoint | None) -> None:
        if newest is not None and not self._is_safe:
            newest.on_buffer = False

    def buffer_node_fails(self, number: int) -> None:
        raise NotImplementedError  # it has none

    def buffer_node_is_back(self, number: int) -> None:
        raise NotImplementedError


class SharedBuffer:
    """Buffer nodes, over which every compute node stripes what it writes."""

    def __init__(
        self,
        simulation: Simulation,
        machine: Machine,
        architecture: str,
        rng: np.random.Generator,
    ) -> None:
        one = machine.buffers[architecture]
        useful = 1 - machine.parity
        self.nodes, self._per_node = one.nodes, one.stripes
        # A compute node divides its network evenly between its stripes.
        self._alone = machine.nic / one.stripes
        self._write = one.write * useful
        lanes = ((one.read * useful, self._alone), (self._write, self._alone))
        self._servers = SharedServers(simulation, one.nodes, lanes)
        self._stripes = Stripes(one.placement, rng)
        self._capacity = one.capacity * useful * one.nodes
        self.used = 0.0  # bytes
        self._is_safe = machine.parity > 0
        self._up = np.ones(one.nodes, np.bool_)
        self._stored: dict[Checkpoint, Counts] = {}  # in the order of writing
        self._moving: list[Transfer] = []

    def seconds(self, nodes: int, per_node: float) -> float:
        stripe = per_node / self._per_node
        fullest = math.ceil(nodes * self._per_node / self.nodes)
        return max(fullest * stripe / self._write, stripe / self._alone)

    def make_room(self, checkpoint: Checkpoint) -> bool:
        """Gives up the oldest checkpoints that are on the PFS as well."""
        for old in list(self._stored):
            if self.used + checkpoint.size <= self._capacity:
                break
            if old.on_pfs:
                self.drop(old)
        has_room = self.used + checkpoint.size <= self._capacity
        return has_room and bool(self._up.any())

    def write(self, checkpoint: Checkpoint) -> Move:
        stripes = checkpoint.nodes * self._per_node
        counts = self._stripes.place(stripes, self._up, self._servers.load())
        self.used += checkpoint.size
        self._stored[checkpoint] = counts
        try:
            yield from self._move(_WRITE, checkpoint, counts)
        except GeneratorExit:
            self._forget(checkpoint)
            raise
        checkpoint.on_buffer = checkpoint in self._stored

    def read(self, checkpoint: Checkpoint) -> Move:
        yield from self._move(_READ, checkpoint, self._stored[checkpoint])

    def _move(self, lane: int, checkpoint: Checkpoint, counts: Counts) -> Move:
        stripe = checkpoint.per_node / self._per_node
        transfer = self._servers.transfer(lane, stripe, counts)
        self._moving.append(transfer)
        try:
            yield transfer
        finally:
            self._moving.remove(transfer)

    def drop(self, checkpoint: Checkpoint) -> None:
        checkpoint.on_buffer = False
        self._forget(checkpoint)

    def _forget(self, checkpoint: Checkpoint) -> None:
        if self._stored.pop(checkpoint, None) is not None:
            self.used -= checkpoint.size

    def compute_node_fails(self, newest: Checkpoint | None) -> None:
        """The buffer has it still."""

    def buffer_node_fails(self, number: int) -> None:
        """What has a stripe there is lost, if there is no parity."""
        self._up[number] = False
        if self._is_safe:
            return
        for checkpoint, counts in list(self._stored.items()):
            if counts[number]:
                self.drop(checkpoint)
        for transfer in list(self._moving):
            if transfer.counts[number]:
                transfer.lose()

    def buffer_node_is_back(self, number: int) -> None:
        self._up[number] = True


def build_buffer(
    architecture: str,
    simulation: Simulation,
    machine: Machine,
    rng: np.random.Generator,
) -> Buffer:
    if architecture == LOCAL:
        return LocalBuffer(machine)
    return SharedBuffer(simulation, machine, architecture, rng)
