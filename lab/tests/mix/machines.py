"""A small machine and a small mix: a campaign of them takes milliseconds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pegasus_bb_lab.model.machine import LOCAL, SHARED, BufferNodes, Faults, Machine
from pegasus_bb_lab.model.mix import DALY, FIRST_FIT, Application, Cores, Mix

from pegasus_bb.model.quantities import Source
from pegasus_bb.model.speeds import Speed

HOUR = 3600.0
GB = 1e9
PFS = Speed(10 * GB, 10 * GB, 10 * GB, 10 * GB)
# 100 nodes of 100 GB. A checkpoint of half the memory takes 50 s on local buffers.
MACHINE = Machine(
    nodes=100,
    cores=10,
    memory=int(100 * GB),
    nic=10 * GB,
    pfs=PFS,
    buffers={
        SHARED: BufferNodes(10, 12 * GB, 10 * GB, stripes=2),
        LOCAL: BufferNodes(100, 1.2 * GB, 1 * GB),
    },
    faults=Faults(6 * HOUR, 60.0),
    source=Source("machine.yml"),
)
MIX = Mix(
    applications=(
        Application("wide", 60, 30 * HOUR, Cores(400, 800), 4),
        Application("narrow", 30, 10 * HOUR, Cores(50, 100), 2),
    ),
    sizes=None,
    full_machine=0,
    workflows=0,
    checkpoint=0.5,
    interval=DALY,
    queue=FIRST_FIT,
    walltime=8 * HOUR,
    campaign=96 * HOUR,
    source=Source("mix.yml"),
)


def with_buffer(machine: Machine, architecture: str, **values: Any) -> Machine:
    changed = replace(machine.buffers[architecture], **values)
    return replace(machine, buffers={**machine.buffers, architecture: changed})
