"""One checkpoint on a machine that does nothing else."""

from __future__ import annotations

import numpy as np

from pegasus_bb.forecast.simulated_clock import Simulation
from pegasus_bb_lab.mix.burst_buffers import build_buffer
from pegasus_bb_lab.mix.pipelines import Checkpoint
from pegasus_bb_lab.model.machine import Machine


def dump_bandwidth(
    machine: Machine, architecture: str, nodes: int, per_node: float, seed: int
) -> float:
    """Bytes per second of a checkpoint of ``per_node`` bytes of each of ``nodes``."""
    simulation = Simulation()
    rng = np.random.default_rng(seed)
    buffer = build_buffer(architecture, simulation, machine, rng)
    checkpoint = Checkpoint(nodes, per_node, 0.0)
    simulation.start(buffer.write(checkpoint))
    simulation.run()
    return checkpoint.size / simulation.now
