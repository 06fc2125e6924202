"""The time of a run: seconds since it began, without those in which it lay still."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from pegasus_bb.model.run import Run
from pegasus_bb.report.clock import gated_nodes


@dataclass(frozen=True, slots=True)
class RunTime:
    """What time it is in a run."""

    begun: float | None  # seconds since the epoch; None where nothing is known of it
    still: tuple[tuple[float, float], ...]  # from, to: no engine worked on it

    def at(self, time: float) -> float:
        """Seconds since it began, to the microsecond."""
        begun = time if self.begun is None else self.begun
        passed = (time - begun) - sum(
            max(0.0, min(until, time) - max(since, begun))
            for since, until in self.still
        )
        return round(passed, 6)


def run_time(run: Run) -> RunTime:
    """It begins with the gate or the first task, whichever is first."""
    gate = gate_began(run)
    times = [task.start for task in run.tasks] + ([] if gate is None else [gate])
    between = ((one[1], other[0]) for one, other in pairwise(run.stretches))
    return RunTime(min(times, default=None), tuple(between))


def gate_began(run: Run) -> float | None:
    """When the gate was first asked that held its job back longest."""
    gated = gated_nodes(run)
    waited = [
        (node.pre_wait, node.pre_started)
        for node in run.nodes
        if node.node in gated
        and node.pre_wait is not None
        and node.pre_started is not None
    ]
    return max(waited)[1] if waited else None
