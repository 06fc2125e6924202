"""How long jobs and the whole workflow keep a reservation, as mode hybrid counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from pegasus_bb.model.graph import Graph
from pegasus_bb.model.history import History, declared
from pegasus_bb.model.workflow import Workflow

AROUND = 60.0  # seconds for which a reservation is filled, or emptied


@dataclass(frozen=True, slots=True)
class Lasting:
    """In ``unit``: seconds, or levels where nobody knows how long any task runs."""

    unit: str
    span: float  # one for all jobs is needed for so long at least
    rooms: Mapping[str, float]  # one for that job alone, by the job's id


def lasting(workflow: Workflow, graph: Graph, history: History) -> Lasting:
    """The run times that an earlier run or the profile ``runtime`` tells, the median of
    these for all other tasks. Linear in the workflow, but for that median.

    A room is emptied after its task. The shared reservation is filled before the
    longest chain of jobs and emptied after it: with fewer slots than jobs it lasts
    longer, so what a room saves there is not less than is counted.
    """
    known = dict(_known(workflow, history))
    if not known:  # each job and each staging takes a level
        deepest = max(graph.level.values(), default=0)
        rooms = dict.fromkeys(graph.level, 2.0)
        return Lasting("levels", deepest + 2.0, rooms)
    usual = median(known.values())
    ends: dict[str, float] = {}
    for ident in graph.order:
        begins = max((ends[parent] for parent in graph.parents[ident]), default=0.0)
        ends[ident] = begins + known.get(ident, usual)
    return Lasting(
        "seconds",
        max(ends.values()) + 2 * AROUND,
        {ident: known.get(ident, usual) + AROUND for ident in ends},
    )


def _known(workflow: Workflow, history: History) -> list[tuple[str, float]]:
    found, tells = [], history.tells
    for job in workflow.jobs.values():
        past = history.of(job.id, job.transformation) if tells else None
        past = past or declared(job)
        if past is not None:
            found.append((job.id, past.duration))
    return found
