"""Mode hybrid: what leaves the reservation that all jobs share, and for where.

It begins with what mode persistent would do. An input that is read once stays on the
PFS behind a link. Files that live and die with one job, which makes them and no other
reads them, may go to a room: a reservation of that job's own, from which they come back
to the PFS. What the user has said of a file stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.graph import Graph
from pegasus_bb.model.history import History
from pegasus_bb.model.placement import PFS, Placed, Placement
from pegasus_bb.model.settings import AUTO, Settings
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.placement.candidates import candidates, rooms
from pegasus_bb.placement.lasting import lasting
from pegasus_bb.placement.liveness import Ending
from pegasus_bb.placement.moving import moved, read_in_place
from pegasus_bb.placement.named import check_named, split_named
from pegasus_bb.placement.policy import home
from pegasus_bb.placement.roomtier import room_tier
from pegasus_bb.placement.sizing import automatic_capacity, wanted_capacity
from pegasus_bb.placement.survey import INPUT
from pegasus_bb.placement.worth import Candidate, worthwhile


def part(
    workflow: Workflow,
    graph: Graph,
    catalogs: Catalogs,
    settings: Settings,
    placement: Placement,
    ending: Ending,
    history: History,
) -> Placement:
    """``placement``, which is persistent's, as mode hybrid has it, without capacity.

    O((V + E) log V) in jobs and files.
    """
    tier, apart = placement.tier, room_tier(catalogs, settings, placement.tier)
    placement = replace(placement, apart=apart if apart != tier else None)
    left = moved(placement, dict(_read_once(workflow, graph, catalogs, placement)))
    why = _why_none(workflow, settings, placement)
    lasts = lasting(workflow, graph, history)

    def reserve(need: int) -> int:
        wanted = wanted_capacity(tier, settings)
        return wanted or automatic_capacity(tier, settings.headroom, need)

    found: Iterable[Candidate] = ()
    if not _has_inner(workflow):
        found = candidates(
            workflow, graph, settings, left, ending, lasts.rooms, catalogs
        )
    named, asked = split_named(left, found)
    check_named(workflow, left, named)
    if why:
        asked = []
    needs = (placement.need, left.need - sum(each.saved for each in named))
    more, worth = worthwhile(asked, needs, reserve, lasts, together=apart == tier)
    taken = [*named, *more]
    return replace(
        moved(left, dict(_in_rooms(left, [*named, *asked], taken))),
        rooms=rooms(workflow, catalogs, tier.site, taken),
        worth=replace(
            worth,
            rooms=worth.rooms + sum(each.reserved * each.lasts for each in named),
            asked=worth.asked + len(named),
            why_none="" if named else why,
        ),
        whole=placement,
    )


def _why_none(workflow: Workflow, settings: Settings, placement: Placement) -> str:
    """Why no job can have a room, whatever its files are; empty where one may."""
    if wanted_capacity(placement.tier, settings) != AUTO:
        return "the capacity was given, so that a room would save nothing of it"
    if _has_inner(workflow):
        return "which files a sub-workflow reads is not known"
    return ""


def _has_inner(workflow: Workflow) -> bool:
    return any(job.kind != "job" for job in workflow.jobs.values())


def _read_once(
    workflow: Workflow, graph: Graph, catalogs: Catalogs, placement: Placement
) -> Iterator[tuple[str, Placed]]:
    """Staged programs have no readers here: Pegasus would change the user's own."""
    for lfn, file in placement.files.items():
        if file.role != INPUT or file.tier == PFS or lfn in placement.pinned:
            continue
        readers = set(graph.consumers.get(lfn, ()))
        if len(readers) != 1:
            continue
        (reader,) = readers
        if workflow.jobs[reader].kind == "job":
            where = read_in_place(catalogs, placement, lfn)
            on, how = home(where, file.role, placement.tier)
            why = f"an input that job {reader} alone reads: it stays on the PFS"
            yield lfn, replace(file, tier=on, how=how, reason=why)


def _in_rooms(
    placement: Placement, asked: Sequence[Candidate], taken: Sequence[Candidate]
) -> Iterator[tuple[str, Placed]]:
    """What no other job reads: where it goes, or why it stays."""
    there = {candidate.job for candidate in taken}
    on, room = "on", "a reservation of that job's own"
    if placement.apart is not None:
        on, room = "in", f"a room of that job's own on tier {placement.apart.name}"
    for candidate in asked:
        job = candidate.job
        if job in there:
            why = f"job {job} makes it, no other reads it: {on} {room}, then on the PFS"
        else:
            why = f"job {job} makes it, no other reads it; {room} would "
            why += "take more than it saves" if candidate.reserved else "save nothing"
        for lfn in candidate.private:
            file = placement.files[lfn]
            tier = PFS if job in there else file.tier
            said = f"{file.reason}: {on} {room}, then on the PFS"
            reason = said if lfn in placement.to_rooms else why
            yield lfn, Placed(lfn, file.role, tier, file.how, file.size, reason)
