"""What a user reads of chains (--bb-chains): what stays on the nodes, what goes."""

from __future__ import annotations

from pegasus_bb.core.units import format_size
from pegasus_bb.decide.decision import PlacementDecision
from pegasus_bb.model.settings import Settings


def what_chains_do(decision: PlacementDecision, settings: Settings) -> str:
    """Return the line of ``plan`` and ``explain``."""
    chains = decision.chains
    if chains is None:
        return f"chains:   none: {_why_no_chains(decision, settings)}"
    jobs = sum(len(chain.jobs) for chain in chains.found)
    stays = format_size(sum(chain.stays for chain in chains.found))
    files = decision.placement.files
    lfns = (lfn for chain in chains.found for lfn in chain.reservation.stay)
    stays = f"at least {stays}" if any(files[x].size is None for x in lfns) else stays
    span = _compared(*(f"{length:.3g} {chains.unit}" for length in chains.span))
    width = _compared(*(f"{jobs} at most" for jobs in chains.width))
    return (
        f"chains:   {jobs} jobs run as {len(chains.found)} of the batch system; "
        f"{stays} never leave their nodes; longest path: {span}; "
        f"at a time: {width}"
    )


def _compared(without: str, with_chains: str) -> str:
    if without == with_chains:
        return f"{without}, as without chains"
    return f"{with_chains}, {without} without chains"


def _why_no_chains(decision: PlacementDecision, settings: Settings) -> str:
    if not settings.mode.is_only_for_jobs:
        return "only mode transient has them"
    if decision.placement.tier.is_staged:
        return "the batch system itself stages the files of each job"
    if decision.no_chains:
        return f"jobs that could be one chain exceed {decision.no_chains}"
    return "no job reads a file of its only parent under the same profiles"
