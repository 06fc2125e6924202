"""The pipelines of a campaign, drawn from a mix: how many nodes each has, how long it
computes, and how far it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from pegasus_bb.core.units import format_number
from pegasus_bb.forecast.simulated_clock import Process
from pegasus_bb.model.quantities import MOST
from pegasus_bb_lab.model.machine import Machine
from pegasus_bb_lab.model.mix import Application, Mix

_NORMAL = NormalDist()


@dataclass(eq=False, slots=True)
class Checkpoint:
    """It may be on the buffer, on the PFS, on both, or gone."""

    nodes: int
    per_node: float  # bytes
    progress: float  # seconds of computing that it holds
    on_buffer: bool = False
    on_pfs: bool = False

    @property
    def size(self) -> float:
        return self.nodes * self.per_node

    @property
    def is_there(self) -> bool:
        return self.on_buffer or self.on_pfs


@dataclass(eq=False, slots=True)
class Pipeline:
    """A chain of jobs, each of which continues the one before."""

    name: str
    nodes: int
    work: float  # seconds of computing, without faults and checkpoints
    first: float = 1.0  # part of a wall time that its first job has
    done: float = 0.0
    is_complete: bool = False
    newest: Checkpoint | None = None
    drained: Checkpoint | None = None  # the newest one on the PFS
    draining: Checkpoint | None = None
    drain: Process | None = None  # that copies it
    dump_seconds: float | None = None  # of the last dump
    process: Process | None = None  # of its job that runs
    number: int = 0  # its place in the first queue

    def restart_point(self) -> Checkpoint | None:
        """None: it starts from the beginning."""
        if self.newest is not None and self.newest.is_there:
            return self.newest
        return self.drained


def draw_pipelines(
    mix: Mix, machine: Machine, rng: np.random.Generator
) -> list[Pipeline]:
    """In the order of the queue. Each application gets its share of the campaign. First
    jobs are of any length: else all jobs of the machine would end, and write their last
    checkpoints, at the same times. Raises CatalogError if there are too many."""
    shares = sum(each.share for each in mix.applications)
    found: list[Pipeline] = []
    for place, application in enumerate(mix.applications):
        seconds = mix.campaign * machine.nodes * application.share / shares
        part = application.share / shares
        count = _count(application, seconds, mix, machine, part)
        if len(found) + count > MOST:
            raise mix.source.error(
                f"a campaign of {format_number(len(found) + count)} pipelines",
                ["applications", place],
                application.name,
                f"at most {MOST:,}: workflows, a longer walltime of the application, "
                "or a shorter campaign",
            )
        found += _of_application(application, seconds, mix, machine, rng, count)
    for _ in range(mix.full_machine):
        found.append(Pipeline("full machine", machine.nodes, mix.walltime))
    for pipeline in found:
        pipeline.first = float(rng.random())
    queue = [found[place] for place in rng.permutation(len(found))]
    for number, pipeline in enumerate(queue):
        pipeline.number = number
    return queue


def _count(
    application: Application, seconds: float, mix: Mix, machine: Machine, part: float
) -> int:
    """Pipelines of about its wall time that compute ``seconds`` of one node in all."""
    if mix.workflows:
        return max(1, round(mix.workflows * part))
    mean = _mean_cores(application, mix) / machine.cores
    return max(1, round(seconds / (mean * application.walltime)))


def _of_application(
    application: Application,
    seconds: float,
    mix: Mix,
    machine: Machine,
    rng: np.random.Generator,
    count: int,
) -> list[Pipeline]:
    """``count`` pipelines that compute ``seconds`` of one node in all."""
    # One draw of each of ``count`` equal parts of the distribution: less noise.
    parts = (rng.permutation(count) + rng.random(count)) / count
    inside = np.clip(parts, 1e-12, 1 - 1e-12)  # where the normal quantile is finite
    cores = [_cores(application, mix, float(part)) for part in inside]
    nodes = [min(max(1, round(each / machine.cores)), machine.nodes) for each in cores]
    work = seconds / sum(nodes)
    return [Pipeline(application.name, each, work) for each in nodes]


def _cores(application: Application, mix: Mix, part: float) -> float:
    """Below which a ``part`` of the pipelines is."""
    if mix.sizes is not None:
        spread = math.exp(mix.sizes.sigma * _NORMAL.inv_cdf(part))
        return application.cores.routine * mix.sizes.factor * spread
    is_hero = part > 1 - 1 / application.pipelines
    return application.cores.hero if is_hero else application.cores.routine


def _mean_cores(application: Application, mix: Mix) -> float:
    if mix.sizes is not None:
        spread = math.exp(mix.sizes.sigma**2 / 2)
        return application.cores.routine * mix.sizes.factor * spread
    more = (application.cores.hero - application.cores.routine) / application.pipelines
    return application.cores.routine + more
