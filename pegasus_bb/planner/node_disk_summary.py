"""What a user reads of the disks of nodes: chains, which stay there, and the cache."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pegasus_bb.core.units import (
    abbreviate,
    format_count,
    format_duration,
    format_files,
    format_size,
    parse_size,
)
from pegasus_bb.decide.decision import PlacementDecision
from pegasus_bb.decide.shared_inputs import readers
from pegasus_bb.model.settings import Settings

_OF_USER = ("USER", "SLURM_JOB_USER")  # variables that are the same in all jobs


def what_chains_do(decision: PlacementDecision, settings: Settings) -> str:
    """Return the line of ``plan`` and ``explain``."""
    chains = decision.chains
    if chains is None:
        return f"chains:   none: {_why_no_chains(decision, settings)}"
    jobs = sum(len(chain.jobs) for chain in chains.found)
    files = decision.placement.files
    lfns = [lfn for chain in chains.found for lfn in chain.reservation.stay]
    stays = format_size(sum(chain.stays for chain in chains.found))
    unknown = sum(files[lfn].size is None for lfn in lfns)
    if unknown:
        some = any(files[lfn].size for lfn in lfns)
        unsized = f"{format_files(unknown)} of unknown size"
        stays = f"{stays} and {unsized}" if some else unsized
    span = _compared(*(_length(length, chains.unit) for length in chains.span))
    width = _compared(*(f"{jobs} at most" for jobs in chains.width))
    return (
        f"chains:   {jobs} jobs run as {len(chains.found)} of the batch system; "
        f"staying on their nodes: {stays}; longest path: {span}; at a time: {width}"
    )


def compared_cuts(decision: PlacementDecision) -> Iterator[str]:
    """Yield a line for each cut into chains that the forecast has compared, or what was
    missing for that."""
    if decision.wanted and decision.placement.job_reservations:
        yield f"          lines alone: others need {decision.wanted}"
    least = min((cut.seconds for cut in decision.cuts), default=0.0)
    for cut in decision.cuts:
        chains = format_count(cut.chains, "chain") if cut.chains else "no chain"
        jobs = f" of {cut.jobs} jobs at most" if cut.chains else ""
        close = ", since no other is clearly faster" if cut.seconds > least else ""
        taken = f": taken{close}" if cut.is_taken else ""
        yield (
            f"          {format_duration(cut.seconds)} of tasks and copies with "
            f"{chains}{jobs}, {format_size(cut.stays)} stay{taken}"
        )


def _length(path: float, unit: str) -> str:
    return format_duration(path) if unit == "seconds" else f"{path:.0f} {unit}"


def _compared(without: str, with_chains: str) -> str:
    if without == with_chains:
        return f"{without}, as without chains"
    return f"{with_chains}, {without} without chains"


def _why_no_chains(decision: PlacementDecision, settings: Settings) -> str:
    if decision.placement.tier.is_staged:
        return "the batch system itself stages the files of each job"
    if not decision.placement.job_reservations:
        return "not looked for, since no job has a reservation"
    if decision.cuts:
        return "the forecast is no more than 5% shorter with them"
    if decision.no_chains:
        return f"jobs that could be one chain exceed {decision.no_chains}"
    if settings.chains == "auto":
        return "no job is the only one that reads what its only parent makes"
    return "no job reads files of all its parents under the same profiles"


def what_the_cache_does(decision: PlacementDecision) -> str:
    """Return the line of ``plan`` and ``explain``; empty without job reservations."""
    placement = decision.placement
    if not placement.job_reservations:
        return ""
    names = re.findall(r"\$(\w+)", placement.job_tier.settings["path"])
    if any(name not in _OF_USER for name in names):
        return f"cache:    none: path names ${names[0]}, a folder of one job"
    counts = _readers(decision)
    if not counts:
        return "cache:    no input that is larger than --bb-copy-below has two readers"
    sizes = {lfn: placement.files[lfn].size or 0 for lfn in counts}
    most = parse_size(placement.job_tier.settings["cache"])
    large = [lfn for lfn in sizes if sizes[lfn] > most]
    held = {lfn: size for lfn, size in sizes.items() if size <= most}
    saved = sum(size * (counts[lfn] - 1) for lfn, size in held.items())
    left = f"; too small for {abbreviate(large)}" if large else ""
    return (
        f"cache:    {format_files(len(held))} of several jobs, "
        f"{format_size(sum(held.values()))}, once a node; a node that runs all jobs "
        f"reads {format_size(saved)} less{left}"
    )


def _readers(decision: PlacementDecision) -> Mapping[str, int]:
    """LFN -> the number of its readers: jobs outside of chains, and chains."""
    return readers(decision.own_reservations.values())
