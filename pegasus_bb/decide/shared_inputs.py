"""Inputs that several jobs read.

With the key ``cache`` they come once to a node. A cluster or a chain counts as one
reader. A job that wants a copy of its own reads the file as before, and so does one
that makes a file of that name. A small file is copied: that costs less than the look
for it.

In a shared folder a task may change its input for the jobs after it. In a space of its
own it changes a copy, so those inputs are watched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.model.placement import JobReservation, Placement
from pegasus_bb.model.workflow import Job

Choose = Callable[[Sequence[Job], Collection[str]], tuple[str, ...]]


def cacheable_inputs(given: PlanningInput, placement: Placement) -> Choose:
    """A function that chooses, of the inputs of jobs that have one reservation, those
    that may be links to a cache. Raises CatalogError for an odd profile."""
    if not placement.tier.has_cache:
        return lambda jobs, lfns: ()
    files = placement.files
    below = given.settings.copy_below

    def choose(jobs: Sequence[Job], lfns: Collection[str]) -> tuple[str, ...]:
        copied = {
            use.lfn for job in jobs if given.wants_copies(job) for use in job.inputs()
        }
        sizes = {lfn: files[lfn].size for lfn in lfns if lfn not in copied}
        return tuple(sorted(k for k, v in sizes.items() if v is None or v > below))

    return choose


def watched_inputs(given: PlanningInput) -> Choose:
    """A function that chooses, of the inputs of jobs that have one reservation, those
    that a job of a later level reads as well. With private folders each job has its own
    in any case. Raises CatalogError for an odd profile."""
    if given.data_configuration.is_private:
        return lambda jobs, lfns: ()
    level = given.graph.level
    lowest = {
        lfn: max(level[job] for job in jobs)
        for lfn, jobs in given.graph.consumers.items()
    }

    def choose(jobs: Sequence[Job], lfns: Collection[str]) -> tuple[str, ...]:
        own = max(level[job.id] for job in jobs)
        found = tuple(sorted(lfn for lfn in lfns if lowest.get(lfn, 0) > own))
        wanted = found and not any(given.wants_copies(job) for job in jobs)
        return found if wanted else ()

    return choose


def readers(reservations: Iterable[JobReservation]) -> Mapping[str, int]:
    """LFN -> the number of ``reservations`` that read it, of those that several do."""
    counts = Counter(lfn for own in reservations for lfn in own.cacheable)
    return {lfn: count for lfn, count in counts.items() if count > 1}
