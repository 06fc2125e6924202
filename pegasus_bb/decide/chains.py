"""Cuts the jobs of a site into chains, which stay on the node where they begin.

A chain is a cluster: one job of the batch system, with one job reservation. A file that
only its jobs use never leaves the node. A chain grows downwards: a job joins that of
its only parent if it reads a file of it, so there is one way into a chain, and none
back.

With ``on`` it is a caterpillar: a line of jobs, and jobs beside it that only one of the
line feeds, and that feed none. These then run one after the other, so they join only
where run times are known: a chain takes ``--bb-chain-time`` at most. With ``auto`` they
join where a forecast says that this is faster (chain_forecast.py), else lines alone do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING

from pegasus_bb.core.units import format_duration, format_size
from pegasus_bb.decide.decision import Chain, Chains, PlacementDecision, PlanningInput
from pegasus_bb.decide.declared_speeds import declared_speeds
from pegasus_bb.decide.job_reservations import (
    capacity_maker,
    reservation_maker,
    temporary_files,
)
from pegasus_bb.decide.run_times import known_times
from pegasus_bb.decide.sizing import quota_of, wanted_capacity
from pegasus_bb.decide.survey import staged_with
from pegasus_bb.model.document import plain
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.settings import Settings
from pegasus_bb.model.tiers import Tier
from pegasus_bb.model.workflow import Job

if TYPE_CHECKING:
    from pegasus_bb.decide.chain_forecast import ChainForecast

_NAMESPACES = ("pegasus", "env", "condor", "dagman")
# Run times are added up; labels are for the planner's own clusters.
_ADDED = ("runtime", "maxwalltime", "label")
_OURS = ("bb.", "clusters.")  # begin keys that no job of the batch system has
_AMOUNTS = ("cores", "nodes", "ppn", "gpus", "memory", "diskspace")  # the most counts
_OF_ONE_JOB = {("dagman", key) for key in ("PRE", "POST", "ABORT-DAG-ON")}
_Settled = frozenset[tuple[str, str, str]]


@dataclass
class _Growing:
    """A chain while it grows. Bytes, seconds."""

    end: str  # of its line
    jobs: list[str] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)  # of its files on the tier
    temporary: int = 0  # of the job that has the most
    seconds: float = 0.0

    def with_room_for(self, other: _Growing) -> int:
        """The bytes that it has on the disk with the jobs of ``other``."""
        both = {**self.sizes, **other.sizes}
        return sum(both.values()) + max(self.temporary, other.temporary)

    def add(self, other: _Growing) -> None:
        self.jobs += other.jobs
        self.sizes.update(other.sizes)
        self.temporary = max(self.temporary, other.temporary)
        self.seconds += other.seconds


def with_chains(given: PlanningInput, decision: PlacementDecision) -> PlacementDecision:
    """``decision`` with the chains of its jobs, if there are some."""
    if (
        decision.placement.tier.is_staged
    ):  # by the batch system, within limits of its own
        return decision
    cut = _Cut(given, decision.placement)
    found = cut.chains()
    if cut.forecast:
        found = cut.forecast.split(found)
        decision = replace(decision, cuts=tuple(cut.forecast.cuts))
    if not found:
        return replace(decision, no_chains=" and ".join(cut.limits_met))
    chains = _chains_of(given, decision.placement, found, cut.times)
    placement = _asking_for_chains(decision.placement, chains)
    return replace(decision, placement=placement, chains=chains)


def _asking_for_chains(placement: Placement, chains: Chains) -> Placement:
    """``placement`` where each job of a chain asks for all of it: pegasus-plan gives a
    cluster what one of its jobs asks for."""
    reservations = dict(placement.job_reservations)
    for chain in chains.found:
        capacity = chain.reservation.capacity
        for ident in chain.jobs:
            reservations[ident] = replace(reservations[ident], capacity=capacity)
    largest = max(own.capacity for own in reservations.values())
    return replace(placement, job_reservations=reservations, capacity=largest)


def _forecast(
    given: PlanningInput, placement: Placement, times: Mapping[str, float]
) -> ChainForecast | None:
    """None where no speeds are declared, or no run time is known."""
    speeds = declared_speeds(given) if times else None
    if speeds is None:
        return None
    from pegasus_bb.decide.chain_forecast import ChainForecast  # few plans have speeds

    return ChainForecast(given, placement, speeds, times)


class _Cut:
    def __init__(self, given: PlanningInput, placement: Placement) -> None:
        tier = placement.tier
        self.times = known_times(given)
        self._given = given
        self._graph = given.graph
        self._placement = placement
        is_on = given.settings.chains == "on"
        self.forecast = None if is_on else _forecast(given, placement, self.times)
        self._joins_beside = bool(self.times if is_on else self.forecast)
        self._profiles = _CommonProfiles(given, tier.site)
        self._capacity = capacity_maker(tier, given.settings)
        self._limit = _least_limit(tier, given.settings)
        self.limits_met: dict[str, None] = {}  # that alone kept jobs apart, in order
        self._seeds = self._alone()

    def _alone(self) -> Mapping[str, _Growing]:
        """Each job that may be in a chain, by itself."""
        given = self._given
        site = self._placement.tier.site
        programs = staged_with(given.workflow, given.catalogs.transformations, site)
        temporary = temporary_files(given, self._placement.tier)
        files = self._placement.files
        usual = median(self.times.values()) if self.times else 0.0
        seeds: dict[str, _Growing] = {}
        for ident in self._placement.job_reservations:
            job = given.workflow.jobs[ident]
            lfns = *(use.lfn for use in job.uses), *programs[job.transformation]
            here = (lfn for lfn in lfns if self._placement.on_tier(lfn))
            sizes = {lfn: files[lfn].size or 0 for lfn in here}
            seconds = self.times.get(ident, usual)
            seeds[ident] = _Growing(ident, [ident], sizes, temporary(job), seconds)
        return seeds

    def chains(self) -> list[Sequence[str]]:
        """The ids of the jobs of each chain, in the order in which they run."""
        of_job: dict[str, _Growing] = {}
        for ident in self._graph.order:
            if ident not in self._seeds:
                continue
            parents = self._graph.parents[ident]
            into = of_job.get(parents[0]) if len(parents) == 1 else None
            if into is not None and self._joins(into, parents[0], ident):
                into.add(self._seeds[ident])
                into.end = ident if self._graph.children[ident] else into.end
                of_job[ident] = into
            else:
                of_job[ident] = self._seeds[ident]
        heads = (chain for ident, chain in of_job.items() if chain.jobs[0] == ident)
        return [chain.jobs for chain in heads if len(chain.jobs) > 1]

    def _joins(self, into: _Growing, parent: str, ident: str) -> bool:
        return (
            self._is_next(into, parent, ident)
            and self._reads(ident, parent)
            and self._profiles.are_alike(parent, ident)
            and self._is_within(into, self._seeds[ident])
        )

    def _is_next(self, into: _Growing, parent: str, ident: str) -> bool:
        children = self._graph.children
        if len(children[parent]) == 1:
            return True
        is_of_shape = parent == into.end or not children[ident]
        return self._joins_beside and is_of_shape

    def _reads(self, ident: str, parent: str) -> bool:
        made = self._graph.producer
        read = (use.lfn for use in self._given.workflow.jobs[ident].inputs())
        return any(made.get(x) == parent and self._placement.on_tier(x) for x in read)

    def _is_within(self, into: _Growing, other: _Growing) -> bool:
        met = self._limit_met(into, other)
        if met:
            self.limits_met[met] = None
        return not met

    def _limit_met(self, into: _Growing, other: _Growing) -> str:
        """The limit that keeps them apart; empty if none does."""
        longest = self._given.settings.chain_time
        if into.seconds + other.seconds > longest:
            return f"--bb-chain-time ({format_duration(longest)})"
        if self._limit is None:
            return ""
        most, name = self._limit
        need = into.with_room_for(other)
        fits = max(need, self._capacity(need)) <= most  # a given one is no larger
        return "" if fits else f"{name} ({format_size(most)})"


def _least_limit(tier: Tier, settings: Settings) -> tuple[int, str] | None:
    """The bytes that a chain may have on its disk, and what says so."""
    limits = (
        (quota_of(tier), f"the quota of tier {tier.name}"),
        (tier.largest, f"the key largest of tier {tier.name}"),
        (wanted_capacity(tier, settings), "the given capacity"),
    )
    return min(((most, name) for most, name in limits if most), default=None)


class _CommonProfiles:
    """The profiles that all jobs of a chain have in common.

    A cluster has those of its first task, and the most cores and memory of any. With
    ``on`` these amounts may differ; else none of the jobs asks for more than its own.
    """

    def __init__(self, given: PlanningInput, site: str) -> None:
        self._given = given
        self._site = site
        amounts = _AMOUNTS if given.settings.chains == "on" else ()
        self._left_out = {("pegasus", key) for key in (*_ADDED, *amounts)}
        self._known: dict[str, _Settled] = {}

    def are_alike(self, one: str, other: str) -> bool:
        return self._of(one) == self._of(other)

    def _of(self, ident: str) -> _Settled:
        if ident not in self._known:
            job = self._given.workflow.jobs[ident]
            self._known[ident] = frozenset(self._settled(job))
        return self._known[ident]

    def _settled(self, job: Job) -> Iterator[tuple[str, str, str]]:
        """Yield what counts for ``job``: its own profiles before those of its
        program. One with a script of its own is like no other."""
        values: dict[tuple[str, str], str] = {}
        programs = self._given.catalogs.transformations
        for profiles in job.all_profiles(programs, self._site):
            for space in _NAMESPACES:
                for key, value in (profiles.get(space) or {}).items():
                    values.setdefault((space, key), plain(value))
        if not _OF_ONE_JOB.isdisjoint(values):
            yield "job", "id", job.id
        for (space, key), value in values.items():
            if (space, key) not in self._left_out and not key.startswith(_OURS):
                yield space, key, value


def _chains_of(
    given: PlanningInput,
    placement: Placement,
    found: Sequence[Sequence[str]],
    times: Mapping[str, float],
) -> Chains:
    """``found``: the ids of the jobs of each; ``times``: seconds by job, as far as
    known. Linear in the workflow."""
    make = reservation_maker(given, placement)
    chains = []
    for ids in found:
        own = make([given.workflow.jobs[ident] for ident in ids])
        stays = sum(placement.files[lfn].size or 0 for lfn in own.stay)
        chains.append(Chain(tuple(ids), own, stays))
    head = {ident: ids[0] for ids in found for ident in ids}
    alone = {ident: ident for ident in given.graph.order}
    return Chains(
        tuple(chains),
        unit="seconds" if times else "jobs",
        span=(_span(given, alone, times), _span(given, {**alone, **head}, times)),
        width=(_width(given, alone), _width(given, {**alone, **head})),
    )


def _span(
    given: PlanningInput, head: Mapping[str, str], times: Mapping[str, float]
) -> float:
    """The longest path of jobs that wait for each other. A job of unknown length takes
    the median; if none is known, one."""
    usual = median(times.values()) if times else 1.0
    begins: dict[str, float] = {}  # by head
    length: dict[str, float] = {}
    order = given.graph.order
    for ident in order:
        length[head[ident]] = length.get(head[ident], 0.0) + times.get(ident, usual)
    for ident in order:  # the parents of a chain are those of its head
        if head[ident] == ident:
            above = (head[parent] for parent in given.graph.parents[ident])
            begins[ident] = max((begins[x] + length[x] for x in above), default=0.0)
    return max((begins[x] + length[x] for x in begins), default=0.0)


def _width(given: PlanningInput, head: Mapping[str, str]) -> int:
    """The most batch jobs of one level."""
    level: dict[str, int] = {}
    for ident in given.graph.order:
        if head[ident] == ident:
            above = (level[head[parent]] for parent in given.graph.parents[ident])
            level[ident] = max(above, default=0) + 1
    return max(Counter(level.values()).values(), default=0)
