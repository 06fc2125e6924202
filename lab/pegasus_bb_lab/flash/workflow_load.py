"""Workflows that run at once; when one ends another begins.

A file is deleted when its last reader has ended, a result when its workflow ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from heapq import heappop, heappush
from random import Random
from typing import NamedTuple

from pegasus_bb_lab.flash.task_graph import Task, to_graph
from pegasus_bb_lab.flash.trace import Recorder, Trace
from pegasus_bb_lab.model.flash_device import FlashInput
from pegasus_bb_lab.model.flash_workflows import Shape, Workflows

_TRIES = 6
_CLOSE = 0.04  # to the wanted fill
# stripes; on a device
_LARGER = 8
_FINE = 20_000


def record_workflows(wanted: FlashInput, workflows: Workflows, seed: int) -> Trace:
    """Sizes are scaled until live bytes at most fill what they may."""
    scale = 1.0
    if wanted.capacity > _FINE:  # large stripes tell nearly the scale, and are fast
        load = replace(wanted.load, stripe=_LARGER * wanted.load.stripe)
        scale, _ = _fill(replace(wanted, load=load), workflows, scale, seed)
    return _fill(wanted, workflows, scale, seed)[1]


def _fill(
    wanted: FlashInput, workflows: Workflows, scale: float, seed: int
) -> tuple[float, Trace]:
    limit = wanted.load.fill * wanted.capacity
    for _ in range(_TRIES):
        trace = _Machine(wanted, workflows, scale, seed).run()
        if 1 - _CLOSE <= trace.peak / limit <= 1:
            break
        scale *= limit * (1 - _CLOSE / 2) / trace.peak
    return scale, trace


class _Run:
    """A workflow that runs. What is drawn for it does not depend on other ones."""

    def __init__(self, slot: _Slot, number: int) -> None:
        random = slot.random
        workflows = slot.workflows
        self.slot, self.number = slot, number
        self.user = random.randrange(workflows.users)
        self.tasks = random.choice(slot.graphs)
        self.bytes = [task.stage.writes * slot.vary() for task in self.tasks]
        self.seconds = [task.stage.computes * slot.vary() for task in self.tasks]
        self.waits_for = [len(task.parents) for task in self.tasks]
        self.readers = [len(task.children) for task in self.tasks]
        self.files: dict[int, int] = {}  # of a task, while it is there
        self.ready = deque(i for i, task in enumerate(self.tasks) if not task.parents)
        self.running, self.left = 0, len(self.tasks)


class _Slot:
    """In which one workflow runs after the other."""

    def __init__(
        self, workflows: Workflows, graphs: Sequence[list[Task]], seed: str
    ) -> None:
        self.random = Random(seed)  # noqa: S311 - no secret
        self.workflows, self.graphs = workflows, graphs

    def vary(self) -> float:
        """A factor around 1."""
        spread = self.workflows.spread
        return self.random.lognormvariate(-spread * spread / 2, spread)


class _Due(NamedTuple):
    """At ``second`` a task begins to write, or a slot's next workflow begins."""

    second: float
    order: int
    what: tuple[_Run, int] | _Slot


class _Machine:
    """Every task that writes writes a stripe in its turn. ``scale`` is of sizes and of
    bandwidth, so it changes no times."""

    def __init__(
        self, wanted: FlashInput, workflows: Workflows, scale: float, seed: int
    ) -> None:
        self._recorder = Recorder(wanted.stripes)
        self._workflows = workflows
        self._stripe = wanted.load.stripe * wanted.device.devices / scale
        self._turn = self._stripe / workflows.rate  # seconds
        self._now, self._order, self._begun = 0.0, 0, 0
        self._due: list[_Due] = []
        self._writing: list[tuple[_Run, int, int]] = []  # run, task, stripes left
        graphs = [to_graph(shape) for shape in workflows.shapes]
        longest = max(_duration(workflows, shape) for shape in workflows.shapes)
        for number in range(workflows.count):  # they are not in step
            slot = _Slot(workflows, graphs, f"{seed} {number}")
            self._push(slot.random.uniform(0, longest), slot)

    def run(self) -> Trace:
        while not self._recorder.is_done:
            if not self._writing:
                self._now = self._due[0].second
            while self._due and self._due[0].second <= self._now:
                self._begin(heappop(self._due))
            self._write()
            self._now += self._turn
        return self._recorder.trace()

    def _push(self, seconds: float, what: tuple[_Run, int] | _Slot) -> None:
        self._order += 1
        heappush(self._due, _Due(self._now + seconds, self._order, what))

    def _begin(self, due: _Due) -> None:
        if isinstance(due.what, _Slot):
            self._start_tasks(_Run(due.what, self._begun))
            self._begun += 1
            return
        run, task = due.what
        last = run.tasks[task].last
        run.files[task] = self._recorder.open(run.user, run.number, last)
        stripes = max(1, round(run.bytes[task] / self._stripe))
        self._writing.append((run, task, stripes))

    def _start_tasks(self, run: _Run) -> None:
        while run.ready and run.running < self._workflows.cores:
            task = run.ready.popleft()
            run.running += 1
            self._push(run.seconds[task], (run, task))

    def _write(self) -> None:
        turn, self._writing = self._writing, []
        for run, task, left in turn:
            self._recorder.write(run.files[task])
            if left > 1:
                self._writing.append((run, task, left - 1))
            else:
                self._end(run, task)

    def _end(self, run: _Run, task: int) -> None:
        run.running -= 1
        run.left -= 1
        for parent in run.tasks[task].parents:
            run.readers[parent] -= 1
            if not run.readers[parent] and not run.tasks[parent].stage.keep:
                self._recorder.delete(run.files.pop(parent))
        for child in run.tasks[task].children:
            run.waits_for[child] -= 1
            if not run.waits_for[child]:
                run.ready.append(child)
        self._start_tasks(run)
        if not run.left:
            for file in run.files.values():
                self._recorder.delete(file)
            pause = run.slot.random.expovariate(1 / self._workflows.pause)
            self._push(pause, run.slot)


def _duration(workflows: Workflows, shape: Shape) -> float:
    """Seconds that it takes if its stages run one after the other."""
    return sum(
        (stage.computes + stage.writes / workflows.rate)
        * -(-stage.tasks // workflows.cores)
        for stage in shape.stages
    )
