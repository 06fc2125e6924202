"""Predicted time and space of a run in each mode, from declared storage speeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean
from typing import NamedTuple

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import abbreviate, format_files
from pegasus_bb.decide.decision import PlacementDecision, PlanningInput
from pegasus_bb.decide.hybrid_mode import apply_hybrid_mode
from pegasus_bb.decide.job_reservations import capacity_maker
from pegasus_bb.decide.place_files import place_by_rules, reserve
from pegasus_bb.decide.sizing import automatic_capacity
from pegasus_bb.decide.tier_choice import lint_tier
from pegasus_bb.forecast.workflow.calibration import calibrated
from pegasus_bb.forecast.workflow.common_cause import with_common_cause
from pegasus_bb.forecast.workflow.execution import Execution
from pegasus_bb.forecast.workflow.foreign_rates import rates_remarks
from pegasus_bb.forecast.workflow.mode_choice import Basis
from pegasus_bb.forecast.workflow.prediction import Prediction, scatter
from pegasus_bb.forecast.workflow.simulator import Mode, Simulator
from pegasus_bb.forecast.workflow.workload import joined
from pegasus_bb.model.history import History, most_at_once
from pegasus_bb.model.mean_and_error import ALIKE
from pegasus_bb.model.modes import MODES, PERSISTENT, TRANSIENT, RunMode, recorded_mode
from pegasus_bb.model.placement import PFS, Chain, Placement, chain_lengths
from pegasus_bb.model.speeds import REMOTE
from pegasus_bb.planner.pegasus_home import is_builtin

_SAME_WORK = 1.5  # sizes and numbers below this factor are taken for the same workload


class RunWay(NamedTuple):
    """How a run goes."""

    mode: RunMode
    chains: tuple[int, ...] = ()  # the jobs of each


@dataclass(frozen=True)
class ModePredictions:
    """The input of the predictions of every mode, and those made so far."""

    given: PlanningInput
    decision: PlacementDecision | None
    persistent: PlacementDecision  # where files live if there is room for all
    simulator: Simulator
    _answers: dict[RunMode, Placement | UsageError] = field(default_factory=dict)
    _known: dict[RunWay, Prediction] = field(default_factory=dict)
    _modes: list[Mode] = field(default_factory=list)  # that were simulated

    def of(self, mode: RunMode) -> Prediction:
        """The prediction as an earlier run in this mode was measured; without such a
        run, plus the least time that any run took beyond its simulation."""
        return self._of(self._way(mode))

    def _of(self, way: RunWay) -> Prediction:
        found = self._simulated(way)
        factor = scatter(self.given.history)
        if way in self._measured:
            return found.as_measured(self._measured[way], factor)
        excess = (
            fmean(makespans) - (run.makespan - run.wait)
            for run, makespans in (
                (self._simulated(of), each) for of, each in self._measured.items()
            )
        )
        return found.with_other(max(0.0, min(excess, default=0.0))).with_scatter(factor)

    def beside_the_measured(self, mode: RunMode) -> Prediction:
        """``of``, with what the modes that runs have measured show of this one."""
        way = self._way(mode)
        others = [each for each in self._measured if each != way]
        return with_common_cause([self._of(each) for each in (way, *others)])[0]

    def _way(self, mode: RunMode) -> RunWay:
        """How a run in ``mode`` would go."""
        return RunWay(
            mode, chain_lengths(self._chains if mode.is_only_for_jobs else ())
        )

    @cached_property
    def _chains(self) -> tuple[Chain, ...]:
        """Those of mode transient."""
        if self.given.settings.chains == "off" or self.whole.tier.is_staged:
            return ()
        try:
            chains = self._reserve(TRANSIENT).chains
        except UsageError:
            return ()
        return chains.found if chains else ()

    @cached_property
    def _chained(self) -> Simulator:
        """Of the workflow with its chains."""
        planned = self.simulator.planned
        return Simulator(replace(planned, work=joined(planned.work, self._chains)))

    def _simulated(self, way: RunWay) -> Prediction:
        if way in self._known:
            return self._known[way]
        if way.chains:
            simulator, what = self.planned(way.mode)
            self._known[way] = simulator.predict(what)
            return self._known[way]
        what = self.mode(way.mode)
        same = next((x for x in self._modes if x.does_the_same(what)), None)
        self._modes.append(what)
        if same is None:
            self._known[way] = self.simulator.predict(what)
        else:  # hybrid often moves the same files as persistent
            known = self._known[RunWay(MODES[same.name])]
            self._known[way] = replace(known, mode=way.mode.name)
        return self._known[way]

    def note_run(self, mode: RunMode, what: Mode, done: Execution) -> None:
        """Take ``done``, which was simulated in the middle of the ranges, in place of
        another such run, if there are no ranges."""
        way = self._way(mode)
        if way not in self._known and self.simulator.is_known:
            self._known[way] = self.simulator.predict_as(what, done)
            if not way.chains:
                self._modes.append(what)

    def calibrated(self) -> ModePredictions:
        """Calibrated with the run times of the earlier run, if there is one."""
        history = self.given.history
        if history.makespan is None or not history.jobs or history.others:
            return self
        if not self._is_this_workload(history):
            return self
        measured = {job: past.duration for job, past in history.jobs.items()}
        mode = self.mode(_mode_of(history))
        return replace(self, simulator=calibrated(self.simulator, mode, measured))

    @cached_property
    def _measured(self) -> Mapping[RunWay, Sequence[float]]:
        """RunWay of earlier runs -> their makespans in seconds, without the wait. Only
        runs of this workload count, and of these only those that had no more slots
        than there are. Of a smaller or larger run all grows, or none: both ends. So do
        runs that had fewer slots, as far as a simulation with these is longer."""
        found: dict[RunWay, list[float]] = {}
        history = self.given.history
        for run in (history, *history.others):
            is_alike = run.chains in ((), chain_lengths(self._chains))
            counts = self._is_this_workload(run) and not self._had_more_slots(run)
            if run.makespan is not None and is_alike and counts:
                more = self._more_bytes(run), self._more_tasks(run)
                growth = [x for x in (*more, self._more_slots(run)) if _is_other(x)]
                ends = (run.makespan * end([1.0, *growth]) for end in (min, max))
                found.setdefault(_way_of(run), []).extend(ends)
        return found

    def _had_more_slots(self, run: History) -> bool:
        return (run.at_once or 0) > self.simulator.planned.speeds.slots

    def _more_slots(self, run: History) -> float:
        """How many times as long the slots of now would take, against those of
        ``run``; 1 if that had as many. No record says more than how many it used."""
        planned = self.simulator.planned
        slots = run.at_once or planned.speeds.slots
        if slots >= planned.speeds.slots:
            return 1.0
        fewer = replace(planned, speeds=replace(planned.speeds, slots=slots))
        what = self.mode(_mode_of(run))
        now, then = (
            simulator.predict(what).makespan
            for simulator in (self.simulator, self.simulator.with_planned(fewer))
        )
        return min(1.0, now / then) if then else 1.0

    def _is_this_workload(self, run: History) -> bool:
        return _is_alike(self._more_bytes(run)) and _is_alike(self._more_tasks(run))

    def _more_tasks(self, run: History) -> float:
        """How many times the tasks of ``run`` this workflow has; 1 if its records name
        no jobs."""
        return len(self.simulator.planned.work.loads) / n if (n := len(run.jobs)) else 1

    def _more_bytes(self, run: History) -> float:
        """How many times as large its files are of those that ``run`` has too, and of
        all if it has none of them; 1 if it knows no sizes. A run of other files tells
        of other work."""
        sizes = self.simulator.planned.work.sizes
        then = {**run.sizes, **run.planned_sizes}
        both = sizes.keys() & then.keys()
        if not then:
            return 1.0
        now = sum(sizes[lfn] for lfn in both or sizes)
        return now / max(1, sum(then[lfn] for lfn in both or then))

    def planned(self, mode: RunMode) -> tuple[Simulator, Mode]:
        """The run in ``mode`` as it is planned, with chains, and what simulates it."""
        if self._way(mode).chains:
            return self._chained, self._transient_by(self._chained)
        return self.simulator, self.mode(mode)

    def mode(self, mode: RunMode) -> Mode:
        """The run in ``mode``, without chains. If planning refuses the mode, the
        capacity is assumed to hold all files of known size."""
        if not mode.uses_tier:
            return self.simulator.off(self.whole)
        if mode.is_only_for_jobs:
            return self._transient_by(self.simulator)
        try:
            placement = self._reserved(mode)
        except UsageError:
            placement = self._with_room(mode)
        return self.simulator.shared(placement, mode)

    def _transient_by(self, simulator: Simulator) -> Mode:
        each = capacity_maker(self.whole.tier, self.given.settings)
        return simulator.transient(self._transient.placement, each)

    def answer(self, mode: RunMode) -> tuple[Prediction, str]:
        """The prediction of ``mode``, and the reason if it cannot be planned."""
        return self.of(mode), self.refusal(mode)

    def learn_measured(self) -> None:
        """Fill the cache now, so that a forked worker has it too."""
        for way in self._measured:
            self._simulated(way)

    @property
    def basis(self) -> Basis:
        planned = self.simulator.planned
        work = planned.work
        return Basis(
            planned.speeds.source,
            self.given.history.source,
            work.unknown_sizes,
            work.unknown_times,
            work.sources,
            work.notes,
            tuple(self._remarks()),
        )

    def _remarks(self) -> Iterator[str]:
        planned = self.simulator.planned
        speeds = planned.speeds
        history = self.given.history
        if not speeds.states_slots:
            jobs = f"{speeds.slots} job{'s' * (speeds.slots > 1)} at a time"
            known = (
                f"as in {history.source}"
                if most_at_once(history)
                else "that is assumed"
            )
            yield f"{jobs}, {known}: {speeds.source} has no slots"
        if planned.remote and REMOTE not in speeds.places:
            yield (
                f"{format_files(len(planned.remote))} of other sites come as fast as "
                f"from the PFS: {speeds.source} has no speed of remote"
            )
        used = (PFS, self.whole.tier.name)
        yield from rates_remarks(speeds, planned.work, history, used)
        runs = (history, *history.others)
        if any(map(self._had_more_slots, runs)):
            yield (
                f"slots are fewer than in {history.source}: of that the times of tasks "
                "count, and the makespan does not"
            )
        if retried := [run.source for run in runs if run.had_retries]:
            yield (
                f"tries failed in {abbreviate(retried, 2)}: the times of tasks count, "
                "and the makespan does not"
            )
        if not all(_is_alike(self._more_tasks(run)) for run in runs):
            yield (
                f"{history.source} had other numbers of tasks: the times of its tasks "
                "count, and its makespan does not"
            )
        if any(r.has_times and not _is_alike(self._more_bytes(r)) for r in runs):
            yield (
                f"files had other sizes in {history.source}: what tasks do is taken to "
                "grow as their files do"
            )

    @property
    def whole(self) -> Placement:
        return self.persistent.placement

    def refusal(self, mode: RunMode) -> str:
        """Why the workflow cannot be planned in ``mode``; empty if it can."""
        settings = self.given.settings
        if self.given.nodes_see_a_tier_alone and (why := self._not_seen(mode)):
            return why
        if not mode.uses_tier:
            return ""
        # For a mode that the user names, planning has refused it already.
        wants = settings.mode.is_chosen and settings.fallback == "pfs"
        if wants and not replace(settings, mode=mode).falls_back:
            return "--bb-fallback pfs works only in mode persistent"
        if self.persistent.for_jobs and not mode.is_both:
            lfns = ", ".join(sorted(self.persistent.for_jobs)[:3])
            return (
                f"bb.tier puts {lfns} on a tier of job reservations: mode hybrid only"
            )
        try:
            lint_tier(self.given.catalogs, self.whole.tier, mode)
            self._reserved(mode)
        except UsageError as error:
            return str(error)
        return ""

    def _not_seen(self, mode: RunMode) -> str:
        """Why nodes that see a tier alone cannot run in ``mode``; empty if they can."""
        from pegasus_bb.planner.travelling_limits import check_mode, check_off

        given = self.given.in_mode(mode)
        tier = self.whole.tier
        try:
            if mode.uses_tier and tier.is_all_nodes_see:
                check_mode(given, tier)
            elif not mode.uses_tier and is_builtin(given.settings.planner):
                check_off(given)
        except UsageError as error:
            return str(error)
        return ""

    def _with_room(self, mode: RunMode) -> Placement:
        placed = self._placed(mode).placement
        sizes = self.simulator.planned.work.sizes
        here = placed.on_tier
        need = sum(sizes.get(lfn, 0) for lfn in placed.files if here(lfn))
        headroom = self.given.settings.headroom
        capacity = automatic_capacity(placed.tier, headroom, need)
        return replace(placed, capacity=capacity)

    def _placed(self, mode: RunMode) -> PlacementDecision:
        if mode.is_both:
            return self._hybrid
        return self._transient if mode.is_only_for_jobs else self.persistent

    @cached_property
    def _transient(self) -> PlacementDecision:
        """Images and checkpoints are on the PFS, which other modes may have on the
        tier."""
        if self.decision is not None and self.given.settings.mode.is_only_for_jobs:
            return self.decision
        try:
            return place_by_rules(self.given.in_mode(TRANSIENT), self.whole.tier)
        except UsageError:  # refused: the row shows what it would be
            return self.persistent

    @cached_property
    def _hybrid(self) -> PlacementDecision:
        return apply_hybrid_mode(self.given, self.persistent)

    def _reserved(self, mode: RunMode) -> Placement:
        """The placement of a plan in ``mode``. Raises UsageError as planning does."""
        if mode not in self._answers:
            try:
                self._answers[mode] = self._reserve(mode).placement
            except UsageError as error:
                self._answers[mode] = error
        answer = self._answers[mode]
        if isinstance(answer, UsageError):
            raise answer
        return answer

    def _reserve(self, mode: RunMode) -> PlacementDecision:
        own = self.decision
        if own and own.placement.capacity and self.given.settings.mode == mode:
            return own
        return reserve(self.given.in_mode(mode), self._placed(mode))


def _is_other(growth: float) -> bool:
    return abs(growth - 1) > ALIKE


def _is_alike(growth: float) -> bool:
    return 1 / _SAME_WORK < growth < _SAME_WORK


def _way_of(run: History) -> RunWay:
    return RunWay(_mode_of(run), run.chains)


def _mode_of(run: History) -> RunMode:
    return recorded_mode(run.mode) or PERSISTENT
