"""The machines that a study compares: architectures, and variations of one machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from pegasus_bb.core.units import format_duration
from pegasus_bb_lab.model.machine import SHARED, BufferNodes, Faults, Machine

NODES = "nodes"
CAPACITY = "capacity"
PFS = "pfs"
PARITY = "parity"
REPAIR = "repair"
PLACEMENT = "placement"
VARIATIONS = (NODES, PLACEMENT, CAPACITY, PFS, PARITY, REPAIR)
_OF_SHARED = (NODES, PLACEMENT)
_TERA = 1e12
_GIGA = 1e9


@dataclass(frozen=True)
class Case:
    architecture: str
    settings: Mapping[str, Any]  # variation -> value
    machine: Machine

    @property
    def name(self) -> str:
        said = [text_of(key, value) for key, value in self.settings.items()]
        return ", ".join([self.architecture, *said])

    def name_without(self, key: str) -> str:
        others = {each: v for each, v in self.settings.items() if each != key}
        return replace(self, settings=others).name


def cases(
    machine: Machine,
    architectures: Sequence[str],
    variations: Mapping[str, Sequence[Any]],
) -> list[Case]:
    """Every combination. Local buffers have no buffer nodes to vary.

    Values are: a number of nodes, a placement, bytes of all nodes together, bytes per
    second of the PFS, a share of the bandwidth, seconds.
    """
    found = []
    for architecture in architectures:
        keys = [
            key
            for key in VARIATIONS
            if variations.get(key) and (architecture == SHARED or key not in _OF_SHARED)
        ]
        for values in product(*(variations[key] for key in keys)):
            settings = dict(zip(keys, values, strict=True))
            varied = machine
            for key, value in settings.items():
                varied = vary(varied, key, value)
            found.append(Case(architecture, settings, varied))
    return found


def vary(machine: Machine, key: str, value: Any) -> Machine:
    """``machine`` with another value. Each buffer node stays as fast and as large."""
    if key == PARITY:
        return replace(machine, parity=value)
    if key == REPAIR:
        faults = machine.faults
        return replace(machine, faults=faults and Faults(faults.mtti, value))
    if key == PFS:
        pfs = machine.pfs
        reading = pfs.job_read / pfs.read
        writing = pfs.job_write / pfs.write
        rates = {"read": value, "write": value}
        of_job = {"job_read": value * reading, "job_write": value * writing}
        return replace(machine, pfs=replace(pfs, **rates, **of_job))
    buffers = {
        name: _vary_buffer(name, buffer, key, value)
        for name, buffer in machine.buffers.items()
    }
    return replace(machine, buffers=buffers)


def _vary_buffer(name: str, buffer: BufferNodes, key: str, value: Any) -> BufferNodes:
    if key == CAPACITY:
        return replace(buffer, capacity=value / buffer.nodes)
    return replace(buffer, **{key: value}) if name == SHARED else buffer


def text_of(key: str, value: Any) -> str:
    """For a person: ``200 nodes``, ``parity 20 %``."""
    if key == NODES:
        return f"{value} nodes"
    if key == CAPACITY:
        return f"{value / _TERA:g} TB"
    if key == PFS:
        return f"PFS {value / _GIGA:g} GB/s"
    if key == PARITY:
        return f"parity {100 * value:g} %"
    if key == REPAIR:
        return f"repair {format_duration(value)}"
    return str(value)
