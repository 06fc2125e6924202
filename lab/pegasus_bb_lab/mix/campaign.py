"""Weeks of a machine: jobs compute and write checkpoints, nodes fail, jobs go on."""

from __future__ import annotations

import numpy as np

from pegasus_bb.forecast.fair_sharing import Lane, SharedServer
from pegasus_bb.forecast.simulated_clock import Simulation, Steps
from pegasus_bb_lab.mix.batch import Batch
from pegasus_bb_lab.mix.burst_buffers import build_buffer
from pegasus_bb_lab.mix.effort import check_checkpoint, check_effort, effort
from pegasus_bb_lab.mix.events import (
    BUFFER_FAULT,
    CHECKPOINT,
    COMPLETE,
    DRAINED,
    END,
    FAULT,
    LOST,
    RESTART,
    START,
    Event,
    Watch,
)
from pegasus_bb_lab.mix.intervals import segment
from pegasus_bb_lab.mix.measures import Outcome, Tally, outcome
from pegasus_bb_lab.mix.pipelines import Checkpoint, Pipeline, draw_pipelines
from pegasus_bb_lab.model.machine import SHARED, Faults, Machine
from pegasus_bb_lab.model.mix import Mix

_PATIENCE = 10.0  # times the campaign
_LEAST = 0.1  # of its wall time a job computes, however long its checkpoints take


def simulate(
    machine: Machine,
    mix: Mix,
    architecture: str,
    seed: int,
    watch: Watch | None = None,
) -> Outcome:
    """The same ``seed`` has the same jobs and the same faults of compute nodes on every
    architecture. ``watch`` is told every event. Raises CatalogError if no checkpoint
    could ever be completed, or if the simulation would take hours."""
    return Campaign(machine, mix, architecture, seed, watch).run()


class Campaign:
    def __init__(
        self,
        machine: Machine,
        mix: Mix,
        architecture: str,
        seed: int,
        watch: Watch | None = None,
    ) -> None:
        streams = np.random.SeedSequence(seed).spawn(4)
        work, faults, buffer_faults, stripes = map(np.random.default_rng, streams)
        self.machine, self.mix = machine, mix
        self.simulation = Simulation()
        self.buffer = build_buffer(architecture, self.simulation, machine, stripes)
        pfs = machine.pfs
        self.pfs_read = Lane(pfs.read, pfs.job_read)
        self.pfs_write = Lane(pfs.write, pfs.job_write)
        SharedServer(self.simulation, (self.pfs_read, self.pfs_write))
        self.batch = Batch(self.simulation, machine.nodes, mix.queue, self.job)
        self.tally = Tally()
        self.pipelines = draw_pipelines(mix, machine, work)
        self._to_do, self._ended = len(self.pipelines), 0.0
        self._rngs = faults, buffer_faults
        self._per_node = machine.memory * mix.checkpoint
        self._watch = watch

    def run(self) -> Outcome:
        simulation = self.simulation
        faults = self.machine.faults
        self._check()
        self.batch.queue += self.pipelines
        self.batch.schedule()
        if faults is not None:
            simulation.start(self._compute_node_faults(faults, self._rngs[0]))
            if self.buffer.nodes:
                simulation.start(self._buffer_node_faults(faults, self._rngs[1]))
        simulation.run(until=_PATIENCE * self.mix.campaign)
        for pipeline in list(self.batch.running):  # given up
            if pipeline.process is not None:
                pipeline.process.end()
        productive = sum(each.nodes * each.done for each in self.pipelines)
        is_complete = not self._to_do
        ended = self._ended if is_complete else simulation.now
        return outcome(self.tally, productive, ended, complete=is_complete)

    def _check(self) -> None:
        machine = self.machine
        mix = self.mix
        pipelines = self.pipelines
        for pipeline in pipelines:
            check_checkpoint(machine, mix, pipeline, self._seconds(pipeline))
        shared = machine.buffers[SHARED] if self.buffer.nodes else None
        check_effort(
            machine, mix, effort(machine, mix, shared, pipelines, self._seconds)
        )

    # A job: restart, then compute and write a checkpoint in turn.

    def job(self, pipeline: Pipeline) -> Steps:
        simulation = self.simulation
        nodes = pipeline.nodes
        started = simulation.now
        self._tell(START, pipeline)
        try:
            yield from self._restart(pipeline)
            yield from self._compute(pipeline, started + self._walltime(pipeline))
        finally:
            self.tally.allocated += nodes * (simulation.now - started)
        self._tell(COMPLETE if pipeline.is_complete else END, pipeline)
        if pipeline.is_complete:
            self._to_do -= 1
            self._ended = simulation.now

    def _walltime(self, pipeline: Pipeline) -> float:
        part, pipeline.first = pipeline.first, 1.0
        return part * self.mix.walltime

    def _restart(self, pipeline: Pipeline) -> Steps:
        """From the newest checkpoint that can be read."""
        simulation = self.simulation
        while (checkpoint := pipeline.restart_point()) is not None:
            begun = simulation.now
            if checkpoint.on_buffer:
                yield from self.buffer.read(checkpoint)
                was_read = checkpoint.on_buffer
            else:
                yield self.pfs_read.request(checkpoint.size)
                was_read = True
            if was_read:
                self.tally.restarting += pipeline.nodes * (simulation.now - begun)
                break
        pipeline.done = checkpoint.progress if checkpoint else 0.0
        if checkpoint is not None:
            self._tell(RESTART, pipeline)

    def _compute(self, pipeline: Pipeline, until: float) -> Steps:
        mix = self.mix
        simulation = self.simulation
        least = _LEAST * mix.walltime
        mtti = self.machine.mtti_of(pipeline.nodes)
        while True:
            dump = pipeline.dump_seconds or self._seconds(pipeline)
            left = until - simulation.now
            pause = segment(mix.interval, dump, mtti, left, least)
            if pipeline.work - pipeline.done <= pause:
                break
            yield pause
            pipeline.done += pause
            yield from self._dump(pipeline)
            if until - simulation.now < 2 * dump:  # for one more, and some computing
                return
            least = 0.0
        yield pipeline.work - pipeline.done
        self._complete(pipeline)

    def _dump(self, pipeline: Pipeline) -> Steps:
        begun = self.simulation.now
        tally = self.tally
        checkpoint = Checkpoint(pipeline.nodes, self._per_node, pipeline.done)
        if self.buffer.make_room(checkpoint):
            yield from self.buffer.write(checkpoint)
            if not checkpoint.on_buffer:
                tally.dumps_lost += 1
                self._tell(LOST, pipeline)
                return
        else:
            yield self.pfs_write.request(checkpoint.size)
            checkpoint.on_pfs = True
            tally.dumps_on_pfs += 1
        seconds = self.simulation.now - begun
        pipeline.dump_seconds = seconds
        tally.bandwidths.append(checkpoint.size / seconds)
        tally.dumping += pipeline.nodes * seconds
        self._tell(CHECKPOINT, pipeline)
        self._keep(pipeline, checkpoint)

    # Where checkpoints are: the newest on the buffer, and copied to the PFS.

    def _keep(self, pipeline: Pipeline, checkpoint: Checkpoint) -> None:
        old, pipeline.newest = pipeline.newest, checkpoint
        if old is not None and old is not pipeline.draining:
            self.buffer.drop(old)
        if checkpoint.on_pfs:
            pipeline.drained = checkpoint
        elif pipeline.draining is None:
            pipeline.drain = self.simulation.start(self._drain(pipeline))

    def _drain(self, pipeline: Pipeline) -> Steps:
        while (newest := pipeline.newest) and newest.on_buffer and not newest.on_pfs:
            pipeline.draining = newest
            yield self.pfs_write.request(newest.size)
            pipeline.draining = None
            newest.on_pfs, pipeline.drained = True, newest
            self._tell(DRAINED, pipeline)
            if newest is not pipeline.newest:
                self.buffer.drop(newest)

    def _end_lost_drains(self) -> None:
        """What is on the buffer no longer cannot be copied from there."""
        for pipeline in self.pipelines:
            lost = pipeline.draining is not None and not pipeline.draining.on_buffer
            if lost and pipeline.drain is not None:
                pipeline.drain.end()
                pipeline.drain = pipeline.draining = None

    def _complete(self, pipeline: Pipeline) -> None:
        pipeline.done, pipeline.is_complete = pipeline.work, True
        if pipeline.newest is not None:
            self.buffer.drop(pipeline.newest)
            self._end_lost_drains()

    # Faults: every node fails at the same rate, compute node or buffer node.

    def _compute_node_faults(self, faults: Faults, rng: np.random.Generator) -> Steps:
        while self._to_do:
            yield float(rng.exponential(faults.mtti))
            node = int(rng.integers(self.machine.nodes))
            self.compute_node_fails(node, faults.repair)

    def compute_node_fails(self, node: int, repair: float) -> None:
        victim = self.batch.running_on(node)
        self._tell(FAULT, victim)
        if victim is not None:
            self.tally.interrupts += 1
            self.buffer.compute_node_fails(victim.newest)
            self._end_lost_drains()
        self.batch.node_fails(node, repair)

    def _buffer_node_faults(self, faults: Faults, rng: np.random.Generator) -> Steps:
        mtti = faults.mtti * self.machine.nodes / self.buffer.nodes
        while self._to_do:
            yield float(rng.exponential(mtti))
            node = int(rng.integers(self.buffer.nodes))
            self.buffer_node_fails(node, faults.repair)

    def buffer_node_fails(self, node: int, repair: float) -> None:
        self._tell(BUFFER_FAULT)
        self.buffer.buffer_node_fails(node)
        self._end_lost_drains()
        self.simulation.start(self._repair_buffer_node(node, repair))

    def _repair_buffer_node(self, node: int, seconds: float) -> Steps:
        yield seconds
        self.buffer.buffer_node_is_back(node)

    def _tell(self, event: str, pipeline: Pipeline | None = None) -> None:
        if self._watch is None:
            return
        now = self.simulation.now
        each = pipeline
        if each is None:
            self._watch(Event(now, event))
        else:
            about = each.number, each.name, each.nodes, each.done
            self._watch(Event(now, event, *about))

    def _seconds(self, pipeline: Pipeline) -> float:
        return self.buffer.seconds(pipeline.nodes, self._per_node)
