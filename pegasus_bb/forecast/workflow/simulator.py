"""A planned workflow in each mode: how long it takes, and what it reserves."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from random import Random

from pegasus_bb.forecast.demands.demand import Demand
from pegasus_bb.forecast.workflow.execution import Execution, Rules
from pegasus_bb.forecast.workflow.outline import Outline, outline
from pegasus_bb.forecast.workflow.prediction import (
    RATES,
    Prediction,
    SimulatedEnd,
    predicted,
)
from pegasus_bb.forecast.workflow.work import NodeWork, Places, Work
from pegasus_bb.forecast.workflow.workload import Workload
from pegasus_bb.model.history import DEFAULT_STARTUP, Startup
from pegasus_bb.model.modes import OFF, TRANSIENT, RunMode
from pegasus_bb.model.placement import PFS, PlacedFile, Placement
from pegasus_bb.model.speeds import Speeds

SCATTER = 0.05  # of the computing of equal tasks: the sigma of a log-normal factor


@dataclass(frozen=True)
class Mode:
    """A workflow as it runs in one mode."""

    kind: RunMode
    placement: Placement
    outline: Outline
    work: Sequence[Work]
    rules: Rules

    @property
    def name(self) -> str:
        return self.kind.name

    def does_the_same(self, other: Mode) -> bool:
        mine = self.placement
        its = other.placement
        return (
            self.rules == other.rules
            and self.kind.is_only_for_jobs == other.kind.is_only_for_jobs
            and mine.capacity == its.capacity
            and mine.job_reservations == its.job_reservations
            and mine.job_tier == its.job_tier
            and _live_alike(mine.files, its.files)
        )


def _live_alike(one: Mapping[str, PlacedFile], other: Mapping[str, PlacedFile]) -> bool:
    """Return whether files live in the same places, for whatever reason."""
    return one.keys() == other.keys() and all(
        file is other[lfn]
        or (file.tier == other[lfn].tier and file.how == other[lfn].how)
        for lfn, file in one.items()
    )


@dataclass(frozen=True)
class PlannedWorkflow:
    """The parts that all modes share. ``wait``: seconds at the gate, if there is
    one."""

    work: Workload
    speeds: Speeds
    files: Mapping[str, PlacedFile]
    cleanup: str = "inplace"  # none | leaf | inplace | constraint
    delivered: bool = True  # results are staged out
    linked: frozenset[str] = frozenset()  # inputs that mode off links
    remote: frozenset[str] = frozenset()  # inputs that come from other sites
    startup: Startup = DEFAULT_STARTUP
    wait: float = 0.0


class Simulator:
    """It makes the executable workflow once, and runs it in each mode."""

    def __init__(self, planned: PlannedWorkflow) -> None:
        self.planned = planned
        self.places = Places(planned.speeds)
        self.outline = outline(
            planned.work,
            planned.files,
            planned.cleanup,
            delivered=planned.delivered,
        )

    def with_planned(self, planned: PlannedWorkflow) -> Simulator:
        """Keep the nodes, and take other demands."""
        other = copy(self)
        other.planned = planned
        return other

    def off(self, placement: Placement) -> Mode:
        """Put all files on the PFS; inputs are copied to the scratch there, or
        linked."""
        linked = self.planned.linked
        files = {
            lfn: file.placed(PFS, "link" if lfn in linked else file.how, file.reason)
            for lfn, file in placement.files.items()
        }
        on_pfs = Placement(placement.tier, files)
        return self.shared(on_pfs, OFF)

    def shared(self, placement: Placement, mode: RunMode) -> Mode:
        """Take ``placement`` where jobs share their files: with one reservation for all
        in modes persistent and hybrid."""
        return self._mode(mode, placement, self._work(placement).shared())

    def transient(self, placement: Placement, capacity: Callable[[int], int]) -> Mode:
        """Give each job a reservation: ``capacity`` of the bytes that it needs."""
        work = self._work(placement).transient(capacity)
        return self._mode(TRANSIENT, placement, work)

    def predict(self, mode: Mode) -> Prediction:
        """Predict by both ends of the demands, if they differ."""
        loads = self.planned.work.loads
        speeds = self.planned.speeds
        least = [load.demand.pessimistic for load in loads]
        ends = [self._end(mode, least, speeds.pessimistic)]
        if not self.is_known:
            most = [load.demand.optimistic for load in loads]
            ends.append(self._end(mode, most, speeds.optimistic))
        return self._predicted(mode, ends)

    def predict_as(self, mode: Mode, done: Execution) -> Prediction:
        """``predict``, where it is no range and ``done`` is the run."""
        return self._predicted(mode, [_end_of(mode, done)])

    def _predicted(self, mode: Mode, ends: Sequence[SimulatedEnd]) -> Prediction:
        """Combine ``ends``, and say why they may differ. Where jobs compute for an
        unknown time, they may never meet on the storage: so simulate one at a time,
        too."""
        work = self.planned.work
        rates = () if self.planned.speeds.is_known else (RATES,)
        found = predicted(mode.name, ends, is_guess=work.is_guess)
        found = replace(found, causes=(*work.causes, *rates))
        if not work.unknown_times:
            return found
        return replace(found, one_by_one=self._one_by_one(mode))

    def _one_by_one(self, mode: Mode) -> float:
        """Seconds with one job at a time. Alone equal nodes take equally long, so one
        of each is simulated."""
        nodes, tasks = mode.outline.nodes, mode.outline.tasks
        least = [load.demand.pessimistic for load in self.planned.work.loads]
        count: Counter[tuple[int, int]] = Counter()
        first: dict[tuple[int, int], int] = {}
        for at, work in enumerate(mode.work):
            kind = id(work), id(least[at]) if at < tasks else 0
            count[kind] += 1
            first.setdefault(kind, at)
        some = [replace(nodes[at], children=[], parents=0) for at in first.values()]
        demands = [least[at] for at in first.values() if at < tasks]
        alone = replace(
            mode,
            outline=Outline(some, len(demands)),
            work=[mode.work[at] for at in first.values()],
            rules=replace(mode.rules, phases=()),
        )
        slow = replace(self.planned.speeds.pessimistic, slots=1)
        done = self.execute(alone, demands, slow)
        return done.makespan + sum(
            (count[kind] - 1) * (ended - started)
            for kind, started, ended in zip(
                first, done.started, done.ended, strict=True
            )
        )

    @property
    def is_known(self) -> bool:
        """Whether a prediction is no range: one run is all of it."""
        return self.planned.work.is_known and self.planned.speeds.is_known

    def execute(
        self, mode: Mode, demands: Sequence[Demand], speeds: Speeds | None = None
    ) -> Execution:
        """Run ``mode`` at ``speeds``, else at the planned ones."""
        speeds = _as_reserved(speeds or self.planned.speeds, mode)
        execution = Execution(mode.outline, mode.work, demands, speeds, mode.rules)
        execution.run()
        return execution

    def _end(
        self, mode: Mode, demands: Sequence[Demand], speeds: Speeds
    ) -> SimulatedEnd:
        return _end_of(mode, self.execute(mode, demands, speeds))

    def _work(self, placement: Placement) -> NodeWork:
        sizes = self.planned.work.sizes
        remote = self.planned.remote
        return NodeWork(self.outline, sizes, placement, self.places, remote)

    def _mode(self, kind: RunMode, placement: Placement, work: list[Work]) -> Mode:
        planned = self.planned
        phases = placement.phases
        reserves = kind.is_shared
        rules = Rules(
            startup=planned.startup,
            reserves=reserves,
            wait=planned.wait if reserves else 0.0,
            removes_folder=planned.cleanup != "none" and planned.delivered,
            phases=phases.ends if reserves and phases is not None else (),
            reserved=placement.capacity if reserves else 0,
        )
        return Mode(kind, placement, self.outline, work, rules)


def _as_reserved(speeds: Speeds, mode: Mode) -> Speeds:
    """A reservation that all jobs share has the bandwidth of its granules."""
    tier = mode.placement.tier
    speed = speeds.places.get(tier.name)
    if not mode.rules.reserves or speed is None or math.isinf(speed.per_granule):
        return speeds
    granules = mode.placement.capacity // tier.granularity
    return replace(
        speeds, places={**speeds.places, tier.name: speed.reserved(granules)}
    )


def _end_of(mode: Mode, done: Execution) -> SimulatedEnd:
    return SimulatedEnd(tuple(done.clock.seconds), byte_hours(mode, done))


def byte_hours(mode: Mode, execution: Execution) -> float:
    """Return bytes x hours: the shared reservation from the gate to bb_delete, those of
    jobs until their results are copied."""
    reserved = 0.0
    if mode.rules.reserves:
        lasts = execution.makespan - execution.gate_opened
        reserved += mode.placement.capacity * lasts
    for at, work in enumerate(mode.work):
        if work.own is not None and work.own.capacity:
            own = work.own.capacity
            since = execution.ready if work.own.by_batch_system else execution.started
            reserved += own * (execution.ended[at] - since[at])
    return reserved / 3600


def demands_of(work: Workload, seed: int) -> list[Demand]:
    """Take the middle of each range. Seed 0 draws nothing; others draw how much longer
    or shorter each task computes than was learned."""
    ranges = [load.demand for load in work.loads]
    # Equal tasks have one object: they run as a group.
    middle = {id(each): each.middle for each in ranges}
    found = [middle[id(each)] for each in ranges]
    if not seed:
        return found
    random = Random(seed)  # noqa: S311 - no secret is made of it
    return [
        replace(each, compute=each.compute * math.exp(random.gauss(0.0, SCATTER)))
        for each in found
    ]
