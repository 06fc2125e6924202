"""A workflow runs: the reservation, then its nodes as the DAG and the slots allow."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from pegasus_bb.forecast.demands.demand import Demand
from pegasus_bb.forecast.simulated_clock import Simulation, Slots, Steps
from pegasus_bb.forecast.workflow.outline import PRIORITY, Outline, roots
from pegasus_bb.forecast.workflow.storage_model import Storage
from pegasus_bb.forecast.workflow.work import OwnReservation, Work
from pegasus_bb.model.history import Startup
from pegasus_bb.model.run import Kind
from pegasus_bb.model.speeds import Speeds


class ReadyQueue:
    """The nodes that may start: the higher priority first, then the place in the
    outline."""

    def __init__(
        self, outline: Outline, work: Sequence[Work], demands: Sequence[Demand]
    ) -> None:
        count = len(outline.nodes)
        kinds = (node.kind for node in outline.nodes)
        # Below zero of nodes with a priority, the place itself of tasks.
        self._turn = [
            at - PRIORITY.get(kind, 0) * count for at, kind in enumerate(kinds)
        ]
        self._tasks, self._work, self._demands = outline.tasks, work, demands
        self._ready: list[int] = []

    def add(self, at: int) -> None:
        heappush(self._ready, self._turn[at])

    def next(self, most: int) -> list[int]:
        """Take the first node, and of those right after it up to ``most`` in all that
        do the same: they start together, get the same from every server, and end
        together. Empty if none is ready."""
        ready = self._ready
        work = self._work
        demands = self._demands
        if not ready:
            return []
        first = heappop(ready) % len(self._turn)
        group = [first]
        if first < self._tasks:
            what = work[first]
            demand = demands[first]
            while ready and len(group) < most:
                at = ready[0]  # of a task: none with a priority comes after one
                if work[at] is not what or demands[at] is not demand:
                    break
                group.append(heappop(ready))
        return group


PARTS = ("wait", "compute", "stage_in", "stage_out", "other")
WAIT, COMPUTE, STAGE_IN, STAGE_OUT, OTHER = range(len(PARTS))


class PartsClock:
    """Seconds by part: each belongs to the first of PARTS that is under way in it."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._since = 0.0
        self._going = [0] * len(PARTS)
        self.seconds = [0.0] * len(PARTS)

    def change(self, part: int, step: int) -> None:
        going = self._going[part]
        now = self._simulation.now
        if going > 1 or (going and step > 0):  # it goes on: nothing changes hands
            self._going[part] = going + step
            return
        if now > self._since:
            part_now = OTHER
            for each in (WAIT, COMPUTE, STAGE_IN, STAGE_OUT):
                if self._going[each]:
                    part_now = each
                    break
            self.seconds[part_now] += now - self._since
            self._since = now
        self._going[part] += step


_PART = {
    Kind.STAGE_IN: STAGE_IN,
    Kind.STAGE_OUT: STAGE_OUT,
    Kind.CLEANUP: OTHER,
}


@dataclass(frozen=True)
class Rules:
    """How a run goes, besides what its nodes do."""

    startup: Startup
    reserves: bool  # one reservation for all jobs, and a gate
    wait: float  # seconds that the gate holds the run back
    removes_folder: bool  # at the end
    phases: Sequence[int]  # the last level of each phase
    reserved: int  # bytes of that reservation


class Phases:
    """Barriers: a node starts when all of the phases before have ended."""

    def __init__(self, outline: Outline, ends: Sequence[int]) -> None:
        self._phase = [
            min(bisect_left(ends, node.level), len(ends) - 1) for node in outline.nodes
        ]
        self._left = [0] * len(ends)
        for phase in self._phase:
            self._left[phase] += 1
        self._now = 0
        self._late: dict[int, list[int]] = {}  # ready but for their phase

    def may_start(self, at: int) -> bool:
        if self._phase[at] <= self._now:
            return True
        self._late.setdefault(self._phase[at], []).append(at)
        return False

    def ended(self, at: int) -> list[int]:
        """Return the nodes that may start because ``at`` has ended."""
        self._left[self._phase[at]] -= 1
        freed: list[int] = []
        while self._now < len(self._left) - 1 and not self._left[self._now]:
            self._now += 1
            freed += self._late.pop(self._now, [])
        return freed


class SharedSite:
    """The clock, the storage and the slots of a site, which runs share. ``room``: the
    bytes of its buffer, which reservations wait for; None: there is room for all."""

    def __init__(self, speeds: Speeds, room: Slots | None = None) -> None:
        self.simulation = Simulation()
        self.storage = Storage(self.simulation, speeds.places.values())
        self.free, self.room = speeds.slots, room
        self.runs: list[Execution] = []

    def start_what_can(self) -> None:
        """Give free slots to the runs; an earlier one comes first."""
        for run in self.runs:
            run.start_what_can()


class Execution:
    """One run. Times are seconds since the start; lists go by node. ``site``: shared
    with other runs; without it, the run has a site of its own."""

    def __init__(
        self,
        outline: Outline,
        work: Sequence[Work],
        demands: Sequence[Demand],
        speeds: Speeds,
        rules: Rules,
        *,
        site: SharedSite | None = None,
    ) -> None:
        self.site = site or SharedSite(speeds)
        self.site.runs.append(self)
        self.simulation, self.storage = self.site.simulation, self.site.storage
        self.clock = PartsClock(self.simulation)
        self.outline, self.work, self.rules = outline, work, rules
        count = len(outline.nodes)
        self.ready = [0.0] * count  # its parents had ended
        self.started = [0.0] * count  # it had its slot
        self.began = [0.0] * count  # its task ran, or its copies
        self.stopped = [0.0] * count  # the task or the copies were done
        self.ended = [0.0] * count  # and all that belongs to the node
        self.gate_opened = self.makespan = 0.0
        self.has_room = 0.0  # its reservation had room
        self.alone: list[tuple[Kind, float, float]] = []  # kind, start, seconds
        self.demands = demands
        self._queue = ReadyQueue(outline, work, demands)
        self._is_busy = False
        self._waits = [node.parents for node in outline.nodes]
        self._phases = Phases(outline, rules.phases) if len(rules.phases) > 1 else None
        self._left = count

    def run(self) -> None:
        self.simulation.start(self.begin())
        self.simulation.run()
        self.site.runs.clear()  # no cycle: planning collects no garbage

    def begin(self) -> Steps:
        if self.rules.reserves:
            yield from self._run_alone(Kind.BB_SETUP)
            self.clock.change(WAIT, 1)
            if self.site.room is not None:
                yield self.site.room.take(self.rules.reserved)
            self.has_room = self.simulation.now
            if self.rules.wait:
                yield self.rules.wait
            self.clock.change(WAIT, -1)
        self.gate_opened = self.simulation.now
        yield from self._run_alone(Kind.CREATE_DIR)
        for at in roots(self.outline.nodes):
            self._free_to_go(at)
        if not self._left:
            self.simulation.start(self._finish())
        self.site.start_what_can()

    def _finish(self) -> Steps:
        if self.rules.removes_folder:
            yield from self._run_alone(Kind.CLEANUP)
        if self.rules.reserves:
            yield from self._run_alone(Kind.BB_DELETE)
            if self.site.room is not None:
                self.site.room.give(self.rules.reserved)
        self.clock.change(OTHER, 0)
        self.makespan = self.simulation.now

    def _run_alone(self, kind: Kind) -> Steps:
        """Run a node beside which no other runs."""
        seconds = self.rules.startup.own
        self.clock.change(OTHER, 1)
        if self.rules.startup.queue:
            yield self.rules.startup.queue
        self.alone.append((kind, self.simulation.now, seconds))
        if seconds:
            yield seconds
        self.clock.change(OTHER, -1)

    def _free_to_go(self, at: int) -> None:
        """Start a node whose parents have ended, if its phase has begun."""
        if self._phases is None or self._phases.may_start(at):
            self._is_ready(at)

    def _is_ready(self, at: int) -> None:
        self.ready[at] = self.simulation.now
        own = self.work[at].own
        if own is not None and own.by_batch_system and own.stage_in:
            self.simulation.start(self._staged_in(at, own))
        elif self.rules.startup.queue:
            self.simulation.start(self._queued(at))
        else:
            self._queue.add(at)

    def _staged_in(self, at: int, own: OwnReservation) -> Steps:
        self.clock.change(STAGE_IN, 1)
        for copy in own.stage_in:
            yield from self.storage.copy(copy)
        self.clock.change(STAGE_IN, -1)
        yield from self._queued(at)

    def _queued(self, at: int) -> Steps:
        yield self.rules.startup.queue
        self._queue.add(at)
        self.site.start_what_can()

    def start_what_can(self) -> None:
        """Start ready nodes. It does not nest: a node that takes no time ends while it
        starts."""
        if self._is_busy:
            return
        self._is_busy = True
        site = self.site
        while site.free and (group := self._queue.next(site.free)):
            site.free -= len(group)
            steps = self._tasks if group[0] < self.outline.tasks else self._own_job
            self.simulation.start(steps(group))
        self._is_busy = False

    def _tasks(self, group: Sequence[int]) -> Steps:
        """Run equal tasks, from their slots on."""
        work = self.work[group[0]]
        demand = self.demands[group[0]]
        jobs = len(group)
        places = self.storage.places
        own = work.own
        simulation = self.simulation
        started = simulation.now
        self.clock.change(COMPUTE, 1)
        before = self.rules.startup.job
        if own is not None and not own.by_batch_system:
            for copy in own.stage_in:
                yield from self.storage.copy(copy, jobs=jobs, before=before)
                before = 0.0
        began = simulation.now + before
        if before := before + work.opening:  # one event less than two
            yield before
        for place, size in work.reads:
            on = places[place]
            yield on.request(on.reading, size, jobs, work.nodes)
        if demand.compute:
            yield demand.compute
        for place, share in work.calls if demand.operations else ():
            on = places[place]
            if on.calls is not None:
                amount = demand.operations * share
                yield on.request(on.calls, amount, jobs, work.nodes)
        for place, size in work.writes:
            on = places[place]
            yield on.request(on.writing, size, jobs, work.nodes)
        stopped = simulation.now
        if own is not None and not own.by_batch_system:
            for copy in own.stage_out:
                yield from self.storage.copy(copy, jobs=jobs)
        self.site.free += jobs
        if own is not None and own.by_batch_system:
            yield from self._staged_out(own, jobs)
        self.clock.change(COMPUTE, -1)
        self._have_ended(group, started, began, stopped)

    def _staged_out(self, own: OwnReservation, jobs: int) -> Steps:
        """Let the batch system stage out: the slots are free already."""
        self.clock.change(COMPUTE, -1)
        self.clock.change(STAGE_OUT, 1)
        self.site.start_what_can()
        for copy in own.stage_out:
            yield from self.storage.copy(copy, jobs=jobs)
        self.clock.change(STAGE_OUT, -1)
        self.clock.change(COMPUTE, 1)

    def _own_job(self, group: Sequence[int]) -> Steps:
        """Run a stage-in, a stage-out or a clean-up."""
        work = self.work[group[0]]
        part = _PART[self.outline.nodes[group[0]].kind]
        started = self.simulation.now
        self.clock.change(part, 1)
        if self.rules.startup.own:
            yield self.rules.startup.own
        for copy in work.copies:
            yield from self.storage.copy(copy, by_threads=True)
        for place, files in work.removes:
            calls = self.storage.places[place].calls
            if calls is not None:
                yield calls.request(files)
        stopped = self.simulation.now
        self.site.free += len(group)
        self.clock.change(part, -1)
        self._have_ended(group, started, started, stopped)

    def _have_ended(
        self, group: Sequence[int], started: float, began: float, stopped: float
    ) -> None:
        ended = self.simulation.now
        self._left -= len(group)
        waits = self._waits
        nodes = self.outline.nodes
        for at in group:
            self.started[at] = started
            self.began[at] = began
            self.stopped[at] = stopped
            self.ended[at] = ended
            for child in nodes[at].children:
                waits[child] -= 1
                if not waits[child]:
                    self._free_to_go(child)
            if self._phases is not None:
                for late in self._phases.ended(at):
                    self._is_ready(late)
        if not self._left:
            self.simulation.start(self._finish())
        self.site.start_what_can()
