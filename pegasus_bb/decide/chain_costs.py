"""What chains save and what they cost: bytes that stay, and parallelism that goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

from pegasus_bb.decide.decision import Chain, Chains, PlanningInput
from pegasus_bb.decide.job_reservations import reservation_maker
from pegasus_bb.model.placement import Placement


def chains_of(
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
