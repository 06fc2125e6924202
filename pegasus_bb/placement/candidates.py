"""Mode hybrid: jobs with files that live and die with them, and what a room would hold.

A task finds all that it makes under plain names in its room. What other jobs read is
copied to the shared reservation when the task has ended, so the room has to hold it as
well; what it reads, and what the user wants on the PFS, are links there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.graph import Graph
from pegasus_bb.model.placement import PFS, Placement, Room
from pegasus_bb.model.settings import Settings
from pegasus_bb.model.workflow import Job, Workflow
from pegasus_bb.placement.executables import runs_on, staged_with
from pegasus_bb.placement.liveness import Ending
from pegasus_bb.placement.roomlint import MOST_FILES
from pegasus_bb.placement.sizing import automatic_capacity
from pegasus_bb.placement.survey import OUTPUT
from pegasus_bb.placement.worth import Candidate


class _Made(NamedTuple):
    """What a job makes, by what would become of it."""

    private: dict[str, int]  # LFN -> bytes
    share: dict[str, int]
    write: dict[str, None]


def candidates(
    workflow: Workflow,
    graph: Graph,
    catalogs: Catalogs,
    settings: Settings,
    placement: Placement,
    ending: Ending,
    lasts: Mapping[str, float],
) -> Iterator[Candidate]:
    """In the order of the workflow; ``lasts`` says how long each job's room is kept.

    Linear in the uses of all jobs. A job that a room cannot serve is none: a file whose
    size is not known, a checkpoint, too many files for DataWarp's staging.
    """
    tier = placement.tier
    programs = staged_with(workflow, catalogs.transformations, tier.site)
    most = MOST_FILES if tier.backend == "datawarp" else len(placement.files)
    for job in workflow.jobs.values():
        made = _made(job, graph, placement, ending) if runs_on(job, tier.site) else None
        if made is None or not made.private or len(made.private) > most:
            continue
        saved = sum(made.private.values())
        need = saved + sum(made.share.values())
        reads = (*(use.lfn for use in job.inputs()), *programs[job.transformation])
        room = Room(
            stage_in=(),
            stage_out=tuple(made.private),
            read=tuple(dict.fromkeys(reads)),
            write=tuple(made.write),
            need=need,
            capacity=automatic_capacity(tier, settings.headroom, need),
            share=tuple(made.share),
        )
        yield Candidate(job.id, room, saved, lasts[job.id])


def _made(job: Job, graph: Graph, placement: Placement, ending: Ending) -> _Made | None:
    """None where a room would not do."""
    made = _Made({}, {}, {})
    for use in job.uses:
        if use.kind == "input":
            continue
        file, readers = placement.files[use.lfn], graph.consumers.get(use.lfn, ())
        if use.kind == "checkpoint" or job.id in readers:
            return None  # a later try, or the task itself, wants to find it
        if file.tier == PFS:
            made.write[use.lfn] = None
        elif file.size is None:
            return None
        elif readers or use.lfn in placement.pinned:
            made.share[use.lfn] = file.size
        elif file.role == OUTPUT and not ending.delivered:
            made.share[use.lfn] = file.size  # planning refuses it where it would vanish
        else:
            made.private[use.lfn] = file.size
    return made
