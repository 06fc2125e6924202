"""What is refused before a campaign begins: checkpoints that no job could complete, and
a simulation that would take hours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isclose

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.core.units import format_duration, format_number
from pegasus_bb_lab.mix.intervals import interval
from pegasus_bb_lab.mix.pipelines import Pipeline
from pegasus_bb_lab.model.machine import LEAST_LOADED, SHARED, BufferNodes, Machine
from pegasus_bb_lab.model.mix import Mix

_SHORTEST = 1e-3  # seconds: a clock of weeks does not see much less
_LONGEST = 600.0  # seconds of a campaign
_MEMORY = 20_000_000  # stripes of a checkpoint; numbers of an array
# Seconds of a processor, within a factor of two.
_LOCAL = 2e-5
_SHARED = 2e-4
_FAULT = 1e-4
_DRAW = 4e-8
_QUEUED = 5e-8
_SERVER = 1e-7


def check_checkpoint(
    machine: Machine, mix: Mix, pipeline: Pipeline, seconds: float
) -> None:
    """Raises CatalogError if its checkpoints, of ``seconds`` at least, cannot be."""
    if seconds < _SHORTEST:
        what = "a checkpoint takes no time"
        mend = "more memory of a node, a larger checkpoint, or slower buffers"
        raise machine.source.error(what, ["memory"], machine.memory, mend)
    most = min(mix.walltime, machine.mtti_of(pipeline.nodes))
    if seconds >= most:
        network = machine.memory * mix.checkpoint / machine.nic
        raise machine.source.error(
            f"a checkpoint of {pipeline.nodes} nodes takes {format_duration(seconds)} "
            f"at least, but its job ends or fails after {format_duration(most)}",
            ["nic" if isclose(seconds, network) else "buffers"],
            would_do="more bandwidth here, or fewer faults (faults.mtti)",
        )


@dataclass(frozen=True)
class Effort:
    """What a campaign has to do."""

    checkpoints: float
    at_once: float  # checkpoints that are written at the same time
    faults: float
    queued: float  # looks at a pipeline of the queue
    draws: float  # stripes of all checkpoints, if each draws two buffer nodes
    largest: float  # of one of them
    buffer_nodes: int  # 0: they are local

    @property
    def numbers(self) -> float:
        """Of the largest array."""
        return max(self.at_once * self.buffer_nodes, self.largest)

    def seconds(self) -> dict[tuple[str, ...], float]:
        """By the key of the file that would lower it."""
        each = _LOCAL
        if self.buffer_nodes:
            servers = self.at_once**2 * self.buffer_nodes
            each = _SHARED * self.at_once + _SERVER * servers
        return {
            ("interval",): self.checkpoints * each,
            ("applications",): self.queued * _QUEUED,
            ("buffers", SHARED, "stripes"): self.draws * _DRAW,
            ("faults", "mtti"): self.faults * _FAULT,
        }


def effort(
    machine: Machine,
    mix: Mix,
    shared: BufferNodes | None,
    pipelines: Sequence[Pipeline],
    dump_seconds: Callable[[Pipeline], float],
) -> Effort:
    """Of a campaign without faults, and of its faults. ``shared`` are the buffer nodes
    that it uses, if it uses such."""
    checkpoints = jobs = dumping = writers = 0.0
    for pipeline in pipelines:
        dump = dump_seconds(pipeline)
        pause = interval(mix.interval, dump, machine.mtti_of(pipeline.nodes))
        count = pipeline.work / min(pause + dump, mix.walltime) + 1
        checkpoints += count
        dumping += count * dump
        writers += count * pipeline.nodes
        jobs += pipeline.work / mix.walltime + 1
    largest = max(pipeline.nodes for pipeline in pipelines)
    nodes = shared.nodes if shared else 0
    is_drawn = shared is not None and shared.placement == LEAST_LOADED
    stripes = shared.stripes if shared and is_drawn else 0
    faults = 0.0
    if machine.faults is not None:
        faults = mix.campaign / machine.faults.mtti * (1 + nodes / machine.nodes)
    return Effort(
        checkpoints=checkpoints,
        at_once=1 + (dumping / mix.campaign if shared else 0.0),
        faults=faults,
        queued=(jobs + faults) * len(pipelines),
        draws=writers * stripes,
        largest=largest * stripes,
        buffer_nodes=nodes,
    )


def check_effort(machine: Machine, mix: Mix, found: Effort) -> None:
    """Raises CatalogError."""
    seconds = found.seconds()
    whole = sum(seconds.values())
    most = max(seconds, key=seconds.__getitem__)
    if whole > _LONGEST:
        raise _error(
            machine,
            mix,
            most,
            f"one campaign would take about {format_duration(whole)} to simulate: "
            f"{format_number(found.checkpoints, 2)} checkpoints, "
            f"{format_number(found.faults, 2)} faults",
        )
    if found.numbers > _MEMORY:
        numbers = format_number(found.numbers, 2)
        what = f"one campaign would need arrays of {numbers} numbers"
        keys = ("buffers", SHARED, "stripes" if found.largest else "nodes")
        raise _error(machine, mix, keys, what)


_MEND = {
    "interval": "a longer interval, or a shorter campaign",
    "applications": "fewer pipelines: workflows, or a longer walltime of applications",
    "stripes": f"fewer stripes, or a placement other than {LEAST_LOADED}",
    "nodes": "fewer buffer nodes, or fewer and larger jobs",
    "mtti": "a longer time between faults, or a shorter campaign",
}


def _error(
    machine: Machine, mix: Mix, keys: tuple[str, ...], what: str
) -> CatalogError:
    source = mix.source if len(keys) == 1 else machine.source
    return source.error(what, keys, would_do=_MEND[keys[-1]])
