"""A machine to simulate, read from a YAML file. Sizes are bytes, rates bytes/s.

    nodes: 9500
    cores: 32                    # of a node
    memory: 128GB                # of a node
    nic: 15GB/s                  # of a node
    pfs: {read: 1000GB/s, write: 1000GB/s}    # as in x-storage-speeds
    buffers:                     # one of them, or both to compare
      shared: {nodes: 276, read: 1600GB/s, write: 1400GB/s, stripes: 2,
               placement: random, capacity: 3700TB}
      local: {read: 1600GB/s, write: 1400GB/s, capacity: 3700TB}
    parity: 0                    # per cent of the buffers' bandwidth
    faults: {mtti: 1428m, repair: 1h}

Rates and capacity of buffers are those of all their nodes together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pegasus_bb.model.document import Entry, load
from pegasus_bb.model.quantities import (
    Source,
    choice,
    count,
    number,
    percent,
    rate,
    seconds,
    size,
)
from pegasus_bb.model.records import check_mapping, key, read_record, record
from pegasus_bb.model.speeds import Speed, read_speed

RANDOM = "random"
LEAST_LOADED = "least-loaded"
ROUND_ROBIN = "round-robin"
PLACEMENTS = (RANDOM, LEAST_LOADED, ROUND_ROBIN)
_BETWEEN_FAULTS = "such as 24h, the time between two faults"
SHARED = "shared"
LOCAL = "local"
_STRIPES = 1000  # more would exhaust the memory of the simulation


@dataclass(frozen=True, slots=True)
class BufferNodes:
    """Equal nodes with flash storage. The local ones are the compute nodes."""

    nodes: int
    read: float = key(rate)  # of one node
    write: float = key(rate)
    # Of one node.
    capacity: float = key(size(), math.inf, default=math.inf)
    stripes: int = 1  # per compute node, each on a buffer node
    placement: str = RANDOM  # how the buffer nodes are chosen


@dataclass(frozen=True, slots=True)
class Faults:
    """A Poisson process: each node fails at the same rate."""

    # Mean seconds between two faults of any compute node.
    mtti: float = key(seconds(_BETWEEN_FAULTS))
    # Seconds until the node is back.
    repair: float = key(seconds("such as 1h", may_be_none=True), 0.0)


@dataclass(frozen=True, slots=True)
class _SharedNodes(BufferNodes):
    """The buffer nodes of a machine, as a file has them: all together."""

    nodes: int = key(count())
    stripes: int = key(count(_STRIPES), 1, default=1)
    placement: str = key(choice(*PLACEMENTS), RANDOM, default=RANDOM)


def _per_node(entry: Entry, kind: type[BufferNodes], **known: int) -> BufferNodes:
    all_nodes = read_record(kind, entry, **known)
    nodes = all_nodes.nodes
    if all_nodes.stripes > nodes:
        what = f"a file of {all_nodes.stripes} stripes on {nodes} buffer nodes"
        raise entry.below("stripes").error(what, would_do=f"at most {nodes}")
    return BufferNodes(
        nodes,
        all_nodes.read / nodes,
        all_nodes.write / nodes,
        all_nodes.capacity / nodes,
        all_nodes.stripes,
        all_nodes.placement,
    )


def _buffers(entry: Entry) -> dict[str, BufferNodes]:
    check_mapping(entry, (SHARED, LOCAL), ())
    if not entry.data:
        raise entry.error("no buffer", would_do=f"add {SHARED} or {LOCAL}")
    buffers = {}
    if SHARED in entry.data:
        buffers[SHARED] = _per_node(entry.below(SHARED), _SharedNodes)
    if LOCAL in entry.data:
        nodes = count()(entry.document.entry("nodes"))
        buffers[LOCAL] = _per_node(entry.below(LOCAL), BufferNodes, nodes=nodes)
    return buffers


@dataclass(frozen=True)
class Machine:
    nodes: int = key(count())
    cores: int = key(count())  # of a node
    memory: int = key(size())  # of a node
    nic: float = key(rate)  # of a node
    pfs: Speed = key(read_speed)
    # By architecture: shared, local.
    buffers: Mapping[str, BufferNodes] = key(_buffers)
    # Share of the buffers' bandwidth, below 1.
    parity: float = key(percent(number(0, 99)), 0.0, default=0.0)
    faults: Faults | None = key(record(Faults), None, default=None)
    source: Source = field(default=Source(), compare=False)

    def mtti_of(self, nodes: int) -> float:
        """Mean seconds between two faults of any of ``nodes`` compute nodes."""
        if self.faults is None:
            return math.inf
        return self.faults.mtti * self.nodes / nodes


def read_machine(path: Path, variables: Mapping[str, str]) -> Machine:
    """Raises CatalogError."""
    entry = load(path, variables).entry()
    return read_record(Machine, entry, source=Source(str(path), entry.document))
