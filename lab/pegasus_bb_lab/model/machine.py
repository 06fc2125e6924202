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
    check_mapping,
    read_choice,
    read_count,
    read_number,
    read_seconds,
    read_size,
)
from pegasus_bb.model.speeds import Speed, read_rate, read_speed

RANDOM = "random"
LEAST_LOADED = "least-loaded"
ROUND_ROBIN = "round-robin"
PLACEMENTS = (RANDOM, LEAST_LOADED, ROUND_ROBIN)
SHARED = "shared"
LOCAL = "local"
_KEYS = ("nodes", "cores", "memory", "nic", "pfs", "buffers", "parity", "faults")
_BUFFER = ("read", "write", "capacity")
_STRIPES = 1000  # more would exhaust the memory of the simulation
_STRIPED = ("nodes", "stripes", "placement")


@dataclass(frozen=True, slots=True)
class BufferNodes:
    """Equal nodes with flash storage. The local ones are the compute nodes."""

    nodes: int
    read: float  # of one node
    write: float
    capacity: float = math.inf  # of one node
    stripes: int = 1  # per compute node, each on a buffer node
    placement: str = RANDOM  # how the buffer nodes are chosen


@dataclass(frozen=True, slots=True)
class Faults:
    """A Poisson process: each node fails at the same rate."""

    mtti: float  # mean seconds between two faults of any compute node
    repair: float  # seconds until the node is back


@dataclass(frozen=True)
class Machine:
    nodes: int
    cores: int  # of a node
    memory: int  # of a node
    nic: float  # of a node
    pfs: Speed
    buffers: Mapping[str, BufferNodes]  # by architecture: shared, local
    parity: float = 0.0  # share of the buffers' bandwidth, below 1
    faults: Faults | None = None
    source: Source = field(default=Source(), compare=False)

    def mtti_of(self, nodes: int) -> float:
        """Mean seconds between two faults of any of ``nodes`` compute nodes."""
        if self.faults is None:
            return math.inf
        return self.faults.mtti * self.nodes / nodes


def read_machine(path: Path, variables: Mapping[str, str]) -> Machine:
    """Raises CatalogError."""
    entry = load(path, variables).entry()
    check_mapping(entry, _KEYS, _KEYS[:-2])
    nodes = read_count(entry, "nodes")
    return Machine(
        nodes=nodes,
        cores=read_count(entry, "cores"),
        memory=read_size(entry, "memory"),
        nic=read_rate(entry.below("nic")),
        pfs=read_speed(entry.below("pfs")),
        buffers=_buffers(entry.below("buffers"), nodes),
        parity=read_number(entry, "parity", 0, 99, default=0) / 100,
        faults=_faults(entry),
        source=Source(str(path), entry.document),
    )


def _buffers(entry: Entry, nodes: int) -> dict[str, BufferNodes]:
    check_mapping(entry, (SHARED, LOCAL), ())
    buffers = {}
    if SHARED in entry.data:
        buffers[SHARED] = _shared(entry.below(SHARED))
    if LOCAL in entry.data:
        local = entry.below(LOCAL)
        check_mapping(local, _BUFFER, _BUFFER[:2])
        buffers[LOCAL] = BufferNodes(nodes, *_per_node(local, nodes))
    if not buffers:
        raise entry.error("no buffer", would_do=f"add {SHARED} or {LOCAL}")
    return buffers


def _shared(entry: Entry) -> BufferNodes:
    check_mapping(entry, (*_BUFFER, *_STRIPED), (*_BUFFER[:2], "nodes"))
    nodes = read_count(entry, "nodes")
    stripes = read_count(entry, "stripes", 1, most=_STRIPES)
    if stripes > nodes:
        what = f"a file of {stripes} stripes on {nodes} buffer nodes"
        raise entry.below("stripes").error(what, would_do=f"at most {nodes}")
    placement = read_choice(entry, "placement", PLACEMENTS, RANDOM)
    return BufferNodes(nodes, *_per_node(entry, nodes), stripes, placement)


def _per_node(entry: Entry, nodes: int) -> tuple[float, float, float]:
    """Read, write, and capacity of one of ``nodes``."""
    read, write = (read_rate(entry.below(key)) / nodes for key in _BUFFER[:2])
    capacity = math.inf
    if "capacity" in entry.data:
        capacity = entry.below("capacity").size("capacity: ") / nodes
    return read, write, capacity


def _faults(machine: Entry) -> Faults | None:
    entry = machine.below("faults")
    if entry.data is None:
        return None
    check_mapping(entry, ("mtti", "repair"), ("mtti",))
    mtti = read_seconds(entry, "mtti", "such as 24h, the time between two faults")
    repair = entry.data.get("repair", "0s")
    if str(repair) in ("0", "0s", "0m", "0h"):
        return Faults(mtti, 0.0)
    return Faults(mtti, read_seconds(entry, "repair", "such as 1h"))
