"""Workflows run at the same time on one clock: they share slots, storage and buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import format_size
from pegasus_bb.forecast.simulated_clock import Slots, Steps
from pegasus_bb.forecast.workflow.execution import Execution, SharedSite
from pegasus_bb.forecast.workflow.simulator import Mode, Simulator, demands_of
from pegasus_bb.model.run import Kind
from pegasus_bb.model.speeds import Speeds


@dataclass(frozen=True)
class PlannedMember:
    name: str
    start: float  # seconds, when it is submitted
    simulator: Simulator
    mode: Mode

    @property
    def speeds(self) -> Speeds:
        return self.simulator.planned.speeds

    @property
    def reserved(self) -> int:
        return self.mode.rules.reserved


@dataclass(frozen=True, slots=True)
class MemberOutcome:
    """What one workflow took, in seconds."""

    name: str
    mode: str
    start: float
    reserved: int  # bytes
    waited: float  # until the buffer had room
    makespan: float
    alone: float  # the makespan on a site of its own


@dataclass(frozen=True, slots=True)
class MixOutcome:
    members: tuple[MemberOutcome, ...]
    capacity: int  # bytes; 0: no limit
    peak: int  # bytes that were reserved at the same time
    ended: float  # seconds


def simulate_members(members: Sequence[PlannedMember], capacity: int) -> MixOutcome:
    """Run them as they are submitted. Reservations wait for room in that order, and an
    earlier member's jobs get free slots first. Raises UsageError if a reservation is
    larger than ``capacity``, or if members are not of one site."""
    speeds = _speeds_of_all(members)
    for each in members:
        if capacity and each.reserved > capacity:
            raise UsageError(
                f"{each.name} reserves {format_size(each.reserved)}, and the buffer "
                f"has {format_size(capacity)}: it would wait for ever"
            )
    site = SharedSite(speeds, Slots(capacity) if capacity else None)
    runs = [_run_on(site, each) for each in members]
    for each, run in zip(members, runs, strict=True):
        site.simulation.start(_submitted(each, run))
    site.simulation.run()
    outcomes = tuple(map(_outcome, members, runs))
    held = [
        (run.has_room, run.makespan, each.reserved)
        for each, run in zip(members, runs, strict=True)
        if each.reserved
    ]
    changes = [(since, size) for since, _, size in held]
    changes += [(until, -size) for _, until, size in held]
    peak = max(accumulate(size for _, size in sorted(changes)), default=0)
    ended = max(run.makespan for run in runs)
    return MixOutcome(outcomes, capacity, peak, ended)


def _speeds_of_all(members: Sequence[PlannedMember]) -> Speeds:
    first = members[0].speeds
    for each in members:
        if each.speeds.places.keys() != first.places.keys():
            raise UsageError(
                f"{each.name} and {members[0].name} have speeds of different places; "
                "name those of one site: speeds: FILE"
            )
    return first


def _run_on(site: SharedSite, each: PlannedMember) -> Execution:
    demands = demands_of(each.simulator.planned.work, 0)
    mode = each.mode
    return Execution(
        mode.outline, mode.work, demands, each.speeds, mode.rules, site=site
    )


def _submitted(each: PlannedMember, run: Execution) -> Steps:
    if each.start:
        yield each.start
    yield from run.begin()


def _outcome(each: PlannedMember, run: Execution) -> MemberOutcome:
    alone = each.simulator.execute(
        each.mode, demands_of(each.simulator.planned.work, 0), each.speeds
    )
    rules = each.mode.rules
    setup = sum(seconds for kind, _, seconds in run.alone if kind is Kind.BB_SETUP)
    asked = each.start + rules.startup.queue + setup
    return MemberOutcome(
        name=each.name,
        mode=each.mode.name,
        start=each.start,
        reserved=rules.reserved,
        waited=max(0.0, run.has_room - asked) if rules.reserves else 0.0,
        makespan=run.makespan - each.start,
        alone=alone.makespan,
    )
