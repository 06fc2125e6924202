"""What a user reads of the cache of a tier: how many inputs it has, what that saves."""

from __future__ import annotations

from pegasus_bb.core.units import format_files, format_size
from pegasus_bb.decide.decision import PlacementDecision
from pegasus_bb.decide.shared_inputs import readers


def what_the_cache_does(decision: PlacementDecision) -> str:
    """Return the line of ``plan`` and ``explain``."""
    placement = decision.placement
    chains = decision.chains.found if decision.chains else ()
    joined = {job for chain in chains for job in chain.jobs}
    alone = placement.job_reservations.items()
    owners = [own for job, own in alone if job not in joined]
    counts = readers([*owners, *(chain.reservation for chain in chains)])
    if not counts:
        return "cache:    no input that is larger than --bb-copy-below has two readers"
    sizes = {lfn: placement.files[lfn].size or 0 for lfn in counts}
    saved = sum(sizes[lfn] * (count - 1) for lfn, count in counts.items())
    return (
        f"cache:    {format_files(len(counts))} of several jobs, "
        f"{format_size(sum(sizes.values()))}, once a node; a node that runs all jobs "
        f"reads {format_size(saved)} less"
    )
