"""Mode hybrid: jobs with files that live and die with them, and what a room would hold.

A task finds all that it makes under plain names in its room. What other jobs read is
copied to the shared reservation when the task has ended, so the room has to hold it as
well; what it reads, and what the user wants on the PFS, are links there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache

from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.graph import Graph
from pegasus_bb.model.placement import PFS, Placement, Room
from pegasus_bb.model.settings import Settings
from pegasus_bb.model.workflow import Job, Workflow
from pegasus_bb.placement.executables import runs_on, staged_for
from pegasus_bb.placement.liveness import Ending
from pegasus_bb.placement.nodecount import several_nodes
from pegasus_bb.placement.roomlint import MOST_FILES
from pegasus_bb.placement.sizing import automatic_capacity, quota_of
from pegasus_bb.placement.survey import INPUT, OUTPUT
from pegasus_bb.placement.worth import Candidate


def candidates(
    workflow: Workflow,
    graph: Graph,
    settings: Settings,
    placement: Placement,
    ending: Ending,
    lasts: Mapping[str, float],
    catalogs: Catalogs,
) -> Iterator[Candidate]:
    """In the order of the workflow; ``lasts`` says how long each job's room is kept.

    Linear in the uses of all jobs. A job that a room cannot serve is none: a file whose
    size is not known or that it names twice, a checkpoint, too many files for
    DataWarp's staging, more than one job may have there, several nodes where a room is
    on one.
    """
    tier = placement.room_tier
    quota = quota_of(tier) if not tier.is_reserved else None
    private = _private(graph, placement, ending)
    most = MOST_FILES if tier.is_staged else len(private)
    makers = {graph.producer[lfn]: None for lfn in private if lfn in graph.producer}

    @cache
    def capacity(need: int) -> int:
        return automatic_capacity(tier, settings.headroom, need)

    for ident in makers:
        job = workflow.jobs[ident]
        made = (
            _made(job, graph, placement, private) if runs_on(job, tier.site) else None
        )
        if made is None or len(made.private) > most:
            continue
        need = made.saved + made.shared
        size = capacity(need)
        if quota is not None and size > quota:
            continue
        if tier.is_of_one_node and several_nodes(job, catalogs, tier.site):
            continue
        yield Candidate(
            ident,
            made.private,
            made.share,
            made.write,
            made.saved,
            need,
            size,
            lasts[ident],
            size if tier.is_reserved else 0,
        )


def _private(graph: Graph, placement: Placement, ending: Ending) -> dict[str, None]:
    """Files on the tier that nobody reads but who makes them, if at all. Where results
    are not staged out planning refuses to have them there: no room shall hide that."""
    return {
        file.lfn: None
        for file in placement.files.values()
        if file.role != INPUT
        and file.tier != PFS
        and file.lfn not in graph.consumers
        and file.lfn not in placement.pinned
        and (ending.delivered or file.role != OUTPUT)
    }


class _Made:
    """What a job makes, by what would become of it."""

    __slots__ = ("private", "saved", "share", "shared", "write")

    def __init__(self) -> None:
        self.private: dict[str, None] = {}
        self.share: dict[str, None] = {}
        self.write: dict[str, None] = {}
        self.saved = self.shared = 0  # bytes of the first two


def _made(
    job: Job, graph: Graph, placement: Placement, private: Collection[str]
) -> _Made | None:
    """None where a room would not do."""
    made = _Made()
    for use in job.uses:
        lfn = use.lfn
        if use.kind == "input":
            if graph.producer.get(lfn) == job.id:
                return None  # the task wants to find what it makes
            continue
        file = placement.files[lfn]
        if use.kind == "checkpoint":
            return None  # a later try wants to find it
        if file.tier == PFS:
            made.write[lfn] = None
        elif file.size is None or lfn in made.private or lfn in made.share:
            return None
        elif lfn in private:
            made.private[lfn] = None
            made.saved += file.size
        else:
            made.share[lfn] = None
            made.shared += file.size
    return made


def rooms(
    workflow: Workflow, catalogs: Catalogs, site: str, taken: Iterable[Candidate]
) -> dict[str, Room]:
    """Job -> its room, of those that get one."""

    @cache
    def programs(transformation: str) -> list[str]:
        return list(staged_for([transformation], catalogs.transformations, site))

    return {
        candidate.job: _room(job, candidate, programs(job.transformation))
        for candidate in taken
        for job in (workflow.jobs[candidate.job],)
    }


def _room(job: Job, candidate: Candidate, programs: list[str]) -> Room:
    reads = [use.lfn for use in job.uses if use.kind == "input"]
    return Room(
        stage_in=(),
        stage_out=tuple(candidate.private),
        read=tuple(dict.fromkeys(reads + programs)),
        write=tuple(candidate.write),
        need=candidate.need,
        capacity=candidate.capacity,
        share=tuple(candidate.share),
    )
