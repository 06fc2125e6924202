"""The batch system: a queue of pipelines, and compute nodes that can fail."""

from __future__ import annotations

from collections.abc import Callable

from pegasus_bb.forecast.simulated_clock import Simulation, Steps
from pegasus_bb_lab.mix.pipelines import Pipeline
from pegasus_bb_lab.model.mix import FCFS


class Batch:
    """``job`` are the steps of a pipeline's next job."""

    def __init__(
        self,
        simulation: Simulation,
        nodes: int,
        policy: str,
        job: Callable[[Pipeline], Steps],
    ) -> None:
        self.free, self.down = nodes, 0
        self.queue: list[Pipeline] = []
        self.running: list[Pipeline] = []  # in the order of their start
        self._simulation, self._policy, self._job = simulation, policy, job

    def schedule(self) -> None:
        """First fit starts every job that fits; FCFS none before an earlier one."""
        for pipeline in list(self.queue):
            if pipeline.nodes <= self.free:
                self.queue.remove(pipeline)
                self.free -= pipeline.nodes
                self.running.append(pipeline)
                pipeline.process = self._simulation.start(self._run(pipeline))
            elif self._policy == FCFS or not self.free:
                break

    def _run(self, pipeline: Pipeline) -> Steps:
        try:
            yield from self._job(pipeline)
        finally:
            self.running.remove(pipeline)
            self.free += pipeline.nodes
        if not pipeline.is_complete:
            self.queue.append(pipeline)
        self.schedule()

    def running_on(self, node: int) -> Pipeline | None:
        """Nodes are all alike: the running jobs have the first ones, in turn."""
        for pipeline in self.running:
            if node < pipeline.nodes:
                return pipeline
            node -= pipeline.nodes
        return None

    def node_fails(self, node: int, repair: float) -> None:
        """Its job ends, and is the next to start. A node that is down cannot fail."""
        victim = self.running_on(node)
        if victim is not None and victim.process is not None:
            victim.process.end()
            self.queue.insert(0, victim)
        elif node >= sum(each.nodes for each in self.running) + self.free:
            return
        self._simulation.start(self._repair(repair))
        self.schedule()

    def _repair(self, seconds: float) -> Steps:
        self.free -= 1
        self.down += 1
        yield seconds
        self.down -= 1
        self.free += 1
        self.schedule()
