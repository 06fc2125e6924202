"""Cuts the jobs of a site into chains, which stay on the node where they begin.

A chain is a cluster: one job of the batch system, with one job reservation. A file that
only its jobs use never leaves the node (chain_growth.py). Without run times only lines
are chains. All others cost parallelism, for their jobs run one after the other: with
``on`` for ``--bb-chain-time`` at most, with ``auto`` for as long as is fastest.

How long a run takes is a forecast: batch jobs begin as they get ready, on as many slots
as there are; each reads and writes the files that it shares with others; and those of
one level share the rates of the PFS.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median

from pegasus_bb.decide.chain_growth import ChainGrowth, Found
from pegasus_bb.decide.decision import (
    Chains,
    PlacementDecision,
    PlanningInput,
    WeighedCut,
)
from pegasus_bb.decide.declared_speeds import declared_speeds
from pegasus_bb.decide.job_reservations import reservation_maker, with_reservations
from pegasus_bb.decide.run_times import known_times
from pegasus_bb.model.batch_jobs import BatchJobs
from pegasus_bb.model.history import most_at_once
from pegasus_bb.model.placement import Chain, JobReservation, Placement
from pegasus_bb.model.speeds import Speed, Speeds

_NO_LIMIT = Speed(math.inf, math.inf, math.inf, math.inf)
_CLEARLY = 0.05  # forecasts that differ by less are taken for the same
_MOST = 8  # cuts, each with chains of half the length of those before


def with_chains(given: PlanningInput, decision: PlacementDecision) -> PlacementDecision:
    """``decision`` with the chains of its jobs, if there are some."""
    placement = decision.placement
    if placement.tier.is_staged:  # by the batch system, within limits of its own
        return decision
    times = known_times(given)
    usual = median(times.values()) if times else 0.0  # of jobs of unknown length
    seconds = {job: times.get(job, usual) for job in given.graph.order}
    growth = ChainGrowth(given, placement, seconds)
    is_on = given.settings.chains == "on"
    speeds = declared_speeds(given) if times and not is_on else None
    if speeds is not None:
        forecast = _ChainForecast(given, placement, speeds, seconds)
        found, cuts = forecast.fastest(growth)
        decision = replace(decision, cuts=cuts)
    elif times and is_on:
        found = growth.chains(given.settings.chain_time)
    else:
        found = growth.lines()
        decision = replace(decision, wanted=_wanted(has_times=bool(times), is_on=is_on))
    if not found:
        return replace(decision, no_chains=" and ".join(growth.limits_met))
    chains = _chains_of(given, placement, found, seconds if times else {})
    placement = _asking_for_chains(placement, chains)
    return replace(decision, placement=placement, chains=chains)


def _wanted(*, has_times: bool, is_on: bool) -> str:
    """What is missing for other chains than lines."""
    times = "" if has_times else "run times (--bb-history, or the profile runtime)"
    speeds = "" if is_on else "speeds (x-storage-speeds or --bb-speeds)"
    return " and ".join(filter(None, (times, speeds)))


def _asking_for_chains(placement: Placement, chains: Chains) -> Placement:
    """``placement`` where each job of a chain asks for all of it: pegasus-plan gives a
    cluster what one of its jobs asks for."""
    reservations = dict(placement.job_reservations)
    for chain in chains.found:
        capacity = chain.reservation.capacity
        for ident in chain.jobs:
            reservations[ident] = replace(reservations[ident], capacity=capacity)
    return with_reservations(placement, reservations)


def _chains_of(
    given: PlanningInput,
    placement: Placement,
    found: Found,
    times: Mapping[str, float],
) -> Chains:
    """``found``: the ids of the jobs of each; ``times``: seconds by job, empty if none
    is known. Linear in the workflow."""
    make = reservation_maker(given, placement)
    chains = []
    for ids in found:
        own = make([given.workflow.jobs[ident] for ident in ids])
        stays = sum(placement.files[lfn].size or 0 for lfn in own.stay)
        chains.append(Chain(tuple(ids), own, stays))
    lengths = times or dict.fromkeys(given.graph.order, 1.0)
    without = BatchJobs(given.graph, [], lengths)
    joined = BatchJobs(given.graph, found, lengths)
    return Chains(
        tuple(chains),
        unit="seconds" if times else "jobs",
        span=(without.ends(), joined.ends()),
        width=(without.width, joined.width),
    )


class _ChainForecast:
    def __init__(
        self,
        given: PlanningInput,
        placement: Placement,
        speeds: Speeds,
        times: Mapping[str, float],
    ) -> None:
        """``times``: seconds of every job."""
        self._given, self._placement = given, placement
        self._reservation = reservation_maker(given, placement)
        self._pfs = speeds.pfs
        self._disk = speeds.places.get(placement.tier.name, _NO_LIMIT)
        at_once = most_at_once(given.history) or math.inf
        self._slots = speeds.slots if speeds.states_slots else at_once
        self._times = times

    def fastest(self, growth: ChainGrowth) -> tuple[Found, tuple[WeighedCut, ...]]:
        """The chains to take, and all cuts that were compared, from the longest chains
        to lines alone, and without any."""
        lines = growth.lines()
        trials: list[tuple[WeighedCut, Found]] = []
        for found in self._trials(growth, lines):
            trials.append((self._weighed(found), found))
            if _gets_slower([cut.seconds for cut, _ in trials]):
                break
        if not trials:
            return lines, ()
        trials.append((self._weighed(lines), lines))
        taken = _best([cut for cut, _ in trials])
        found = next(found for cut, found in trials if cut is taken)
        cuts = [replace(cut, is_taken=cut is taken) for cut, _ in trials]
        return found, (*cuts, *([self._weighed([])] if lines else []))

    def _trials(self, growth: ChainGrowth, lines: Found) -> Iterator[Found]:
        """Yield cuts with shorter and shorter chains."""
        last: Found = []
        longest: float = self._given.settings.chain_time
        for _ in range(_MOST):
            found = growth.chains(longest)
            if found == lines:
                return
            if found != last:
                yield found
            last = found
            most = max(sum(self._times[job] for job in chain) for chain in found)
            longest = min(longest, most) / 2

    def _weighed(self, found: Found) -> WeighedCut:
        jobs = self._given.workflow.jobs
        made = {x[0]: self._reservation([jobs[job] for job in x]) for x in found}
        batch = BatchJobs(self._given.graph, found, self._times)
        for job, own in {**self._placement.job_reservations, **made}.items():
            if job in batch.seconds:
                at_once = min(self._slots, batch.of_level[batch.level[job]])
                batch.seconds[job] += self._copying(own, at_once)
        return WeighedCut(
            chains=len(found),
            jobs=max(map(len, found), default=0),
            stays=sum(self._size(own.stay) for own in made.values()),
            seconds=batch.ends(self._slots),
        )

    def _copying(self, own: JobReservation, at_once: float) -> float:
        """Seconds of what a batch job reads from the PFS and writes there."""
        pfs, disk = self._pfs, self._disk
        read = min(pfs.read / at_once, pfs.job_read, disk.job_write)
        write = min(pfs.write / at_once, pfs.job_write, disk.job_read)
        files = len(own.stage_in) + len(own.stage_out)
        moving = self._size(own.stage_in) / read + self._size(own.stage_out) / write
        return moving + files * (pfs.latency + disk.latency)

    def _size(self, lfns: Sequence[str]) -> int:
        return sum(self._placement.files[lfn].size or 0 for lfn in lfns)


def _best(cuts: Sequence[WeighedCut]) -> WeighedCut:
    """The fastest of ``cuts``, if it is clearly faster than lines alone, which are the
    last. Of those that are about as fast, and where about as much stays, the one with
    the shortest chains: a kill costs less."""
    least = min(cut.seconds for cut in cuts)
    if least > cuts[-1].seconds * (1 - _CLEARLY):
        return cuts[-1]
    near = [cut for cut in cuts if cut.seconds <= least * (1 + _CLEARLY)]
    most = max(cut.stays for cut in near)
    alike = [cut for cut in near if cut.stays >= most * (1 - _CLEARLY)]
    return min(alike, key=lambda cut: cut.jobs)


def _gets_slower(seconds: Sequence[float]) -> bool:
    """Whether the last two cuts are no faster than one before them."""
    return len(seconds) > 2 and min(seconds[-2:]) >= min(seconds[:-2])
