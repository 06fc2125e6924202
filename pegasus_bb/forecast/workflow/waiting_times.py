"""The waits in a simulated run: for a slot, for storage, for staging."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pegasus_bb.forecast.workflow.execution import Execution
from pegasus_bb.forecast.workflow.simulator import Mode
from pegasus_bb.forecast.workflow.work import Work


@dataclass(frozen=True, slots=True)
class Waits:
    """The waits of all nodes of one sort. Seconds, added up."""

    name: str  # of the transformation; of auxiliary jobs their kind
    jobs: int
    starting: float  # being started
    slot: float  # ready, until it had a slot
    computing: float
    storage: float  # reading, writing, calls
    own: float  # its own reservation: staging before and after the task


def waits_of(mode: Mode, done: Execution) -> list[Waits]:
    """Return the waits in the order of the workflow, auxiliary jobs last."""
    found: dict[str, list[int]] = {}
    for at, node in enumerate(done.outline.nodes):
        load = node.load
        name = node.kind.value if load is None else load.job.transformation
        found.setdefault(name, []).append(at)
    return [_waits(name, nodes, mode.work, done) for name, nodes in found.items()]


def _waits(
    name: str, nodes: Sequence[int], work: Sequence[Work], done: Execution
) -> Waits:
    startup = done.rules.startup
    slot = starting = computing = storage = own = 0.0
    for at in nodes:
        is_task = done.outline.nodes[at].load is not None
        begin = startup.job if is_task else startup.own
        seconds = done.stopped[at] - done.began[at]
        compute = done.demands[at].compute if is_task else startup.own
        if work[at].own is not None:
            own += done.began[at] - done.started[at] - begin
            own += done.ended[at] - done.stopped[at]
        slot += max(0.0, done.started[at] - done.ready[at] - startup.queue)
        starting += startup.queue + begin
        computing += compute if is_task else 0.0
        storage += max(0.0, seconds - compute)
    return Waits(name, len(nodes), starting, slot, computing, storage, own)
