"""How long jobs and the whole workflow keep a reservation, as mode hybrid counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median

from pegasus_bb.model.history import declared
from pegasus_bb.placement.planning_input import PlanningInput

STAGING = 60.0  # seconds for which a reservation is filled, or emptied


@dataclass(frozen=True, slots=True)
class Durations:
    """In ``unit``: seconds, or levels if no task's run time is known."""

    unit: str
    shared: float  # the shared reservation is needed for so long at least
    jobs: Mapping[str, float]  # a job reservation, by the job's id


def durations(given: PlanningInput) -> Durations:
    """The run times that an earlier run or the profile ``runtime`` tells, the median of
    these for all other tasks. Linear in the workflow, but for that median.

    A job reservation is emptied after its task. The shared reservation is filled before
    the longest chain of jobs and emptied after it. With fewer slots than jobs it lasts
    longer, so a job reservation saves at least what is counted.
    """
    graph, known = given.graph, dict(_known(given))
    if not known:  # each job and each staging takes a level
        return Durations("levels", given.levels + 2.0, dict.fromkeys(graph.level, 2.0))
    usual = median(known.values())
    ends: dict[str, float] = {}
    for ident in graph.order:
        begins = max((ends[parent] for parent in graph.parents[ident]), default=0.0)
        ends[ident] = begins + known.get(ident, usual)
    each = {ident: known.get(ident, usual) + STAGING for ident in ends}
    return Durations("seconds", max(ends.values()) + 2 * STAGING, each)


def _known(given: PlanningInput) -> Iterator[tuple[str, float]]:
    history, tells = given.history, given.history.tells
    for job in given.workflow.jobs.values():
        past = history.of(job.id, job.transformation) if tells else None
        past = past or declared(job)
        if past is not None:
            yield job.id, past.duration
