"""Cuts the jobs of a site into chains, which stay on the node where they begin.

A chain is a cluster: one job of the batch system, with one job reservation. A file that
only its jobs use never leaves the node (chain_growth.py). Without run times only lines
are chains. All others cost parallelism, for their jobs run one after the other: with
``on`` for ``--bb-chain-time`` at most, with ``auto`` for as long as is fastest by the
forecast (chain_forecast.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import median

from pegasus_bb.decide.chain_growth import ChainGrowth, Found
from pegasus_bb.decide.decision import Chains, PlacementDecision, PlanningInput
from pegasus_bb.decide.declared_speeds import declared_speeds
from pegasus_bb.decide.job_reservations import reservation_maker
from pegasus_bb.decide.run_times import known_times
from pegasus_bb.model.batch_jobs import BatchJobs
from pegasus_bb.model.placement import Chain, Placement


def with_chains(given: PlanningInput, decision: PlacementDecision) -> PlacementDecision:
    """``decision`` with the chains of its jobs, if there are some."""
    placement = decision.placement
    if placement.tier.is_staged:  # by the batch system, within limits of its own
        return decision
    times = known_times(given)
    growth = ChainGrowth(given, placement, times)
    is_on = given.settings.chains == "on"
    speeds = declared_speeds(given) if times and not is_on else None
    if speeds is not None:
        from pegasus_bb.decide.chain_forecast import ChainForecast  # few plans have it

        forecast = ChainForecast(given, placement, speeds, times)
        found, cuts = forecast.fastest(growth)
        decision = replace(decision, cuts=cuts)
    elif times and is_on:
        found = growth.chains(given.settings.chain_time)
    else:
        found = growth.lines()
    if not found:
        return replace(decision, no_chains=" and ".join(growth.limits_met))
    chains = _chains_of(given, placement, found, times)
    placement = _asking_for_chains(placement, chains)
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


def _chains_of(
    given: PlanningInput,
    placement: Placement,
    found: Found,
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
    usual = median(times.values()) if times else 1.0
    seconds = {ident: times.get(ident, usual) for ident in given.graph.order}
    without = BatchJobs(given.graph, [], seconds)
    joined = BatchJobs(given.graph, found, seconds)
    return Chains(
        tuple(chains),
        unit="seconds" if times else "jobs",
        span=(without.ends(), joined.ends()),
        width=(without.width, joined.width),
    )
