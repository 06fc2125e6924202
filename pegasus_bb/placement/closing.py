"""Closing early: the reservation that jobs share is given back before the last jobs.

After which level is decided by what is reserved, in bytes x time. Nothing is asked for
a second time, so nobody waits in a queue for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pegasus_bb.errors import UsageError
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.graph import Graph
from pegasus_bb.model.history import History
from pegasus_bb.model.placement import PFS, Closing, Placed, Placement
from pegasus_bb.model.settings import AUTO, Settings
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.placement.cuts import Cut, Life, crossing, cuts, lives_of
from pegasus_bb.placement.executables import runs_on
from pegasus_bb.placement.lasting import Lasting, lasting
from pegasus_bb.placement.liveness import Ending
from pegasus_bb.placement.moving import moved, read_in_place
from pegasus_bb.placement.policy import home
from pegasus_bb.placement.sizing import automatic_capacity, wanted_capacity
from pegasus_bb.units import round_up

LEAST = 5  # per cent of what is reserved that closing early has to save
MOST = 5  # per cent of what tasks read and write that may go to the PFS for it


def closed(
    workflow: Workflow,
    graph: Graph,
    catalogs: Catalogs,
    settings: Settings,
    placement: Placement,
    ending: Ending,
    history: History,
) -> Placement:
    """``placement``, without capacity, closed early where ``settings.close`` wants it.

    O(V + E). Raises UsageError where closing early was insisted on and cannot be.
    """
    why = _why_none(workflow, placement, ending)
    lives = lives_of(workflow, graph, catalogs, placement.tier.site)
    lasts = lasting(workflow, graph, history)
    traffic, found = cuts(graph, placement, lives)
    choices = [] if why else _priced(graph, settings, placement, lasts, found, traffic)
    best, why = _best(choices, why, settings.close)
    if best is None:
        if settings.close == "early":
            raise UsageError(
                f"--bb-close early: the reservation cannot be given back early: {why}; "
                "leave it out, or say --bb-close auto"
            )
        return replace(placement, closing=_none(lasts, why))
    return _cut(workflow, graph, catalogs, placement, lives, best)


def _why_none(workflow: Workflow, placement: Placement, ending: Ending) -> str:
    """Why nothing can be closed early, whatever the files are."""
    jobs = workflow.jobs.values()
    if any(job.kind != "job" for job in jobs):
        return "which files a sub-workflow reads is not known"
    if any(not runs_on(job, placement.tier.site) for job in jobs):
        return "jobs run elsewhere, and levels do not tell what comes after them"
    if not ending.delivered:
        return "results are not staged out"
    return ""


def _priced(
    graph: Graph,
    settings: Settings,
    placement: Placement,
    lasts: Lasting,
    found: Sequence[Cut],
    traffic: int,
) -> list[Closing]:
    """What is reserved with each cut that there can be."""
    wanted = wanted_capacity(placement.tier, settings)

    def reserve(need: int) -> int:
        if wanted == AUTO:
            return automatic_capacity(placement.tier, settings.headroom, need)
        return round_up(wanted, placement.tier.granularity)

    rooms = _rooms(graph, placement, lasts)
    whole = reserve(placement.need) * lasts.span + sum(rooms)
    spent, priced = 0.0, []
    for cut in found:
        spent += rooms[cut.level - 1]
        span = lasts.until[cut.level - 1]
        span += lasts.around * cut.carried / max(1, cut.need, cut.carried)
        if cut.is_free and cut.need and not (wanted != AUTO and wanted < cut.need):
            priced.append(
                Closing(
                    level=cut.level,
                    levels=len(found) + 1,
                    unit=lasts.unit,
                    span=span,
                    whole_span=lasts.span,
                    early=reserve(cut.need) * span + spent,
                    whole=whole,
                    carried=cut.carried,
                    moved=cut.moved,
                    traffic=traffic,
                )
            )
    return priced


def _rooms(graph: Graph, placement: Placement, lasts: Lasting) -> list[float]:
    """What the rooms of each level's jobs reserve."""
    cost = [0.0] * max(graph.level.values(), default=0)
    for job, room in placement.rooms.items():
        if placement.room_tier.is_reserved:
            cost[graph.level[job] - 1] += room.capacity * lasts.rooms[job]
    return cost


def _best(
    choices: Sequence[Closing], why: str, close: str
) -> tuple[Closing | None, str]:
    """What reserves least, or why there is none."""
    saving = [each for each in choices if each.early < each.whole]
    if close == "auto":
        saving = [e for e in saving if 100 * e.early <= (100 - LEAST) * e.whole]
    if why or not saving:
        few = f" {LEAST} % or more" if close == "auto" else ""
        return None, why or f"no cut through the workflow would save{few}"
    if close == "auto":
        near = [e for e in saving if 100 * e.moved <= MOST * e.traffic]
        if not near:
            return None, (
                f"more than {MOST} % of what tasks read and write on the tier would "
                "go to the PFS"
            )
        saving = near
    return min(saving, key=lambda each: each.early), ""


def _none(lasts: Lasting, why: str) -> Closing:
    levels = len(lasts.until)
    span = lasts.span
    return Closing(levels, levels, lasts.unit, span, span, 0, 0, 0, 0, 0, why_none=why)


def _cut(
    workflow: Workflow,
    graph: Graph,
    catalogs: Catalogs,
    placement: Placement,
    lives: dict[str, Life],
    best: Closing,
) -> Placement:
    """With what jobs after the cut use on the PFS, and no rooms for them."""
    after = frozenset(i for i in workflow.jobs if graph.level[i] > best.level)
    files = dict(_elsewhere(catalogs, placement, lives, best.level))
    apart = moved(placement, files)
    carried = (lfn for lfn in apart.files if apart.on_tier(lfn))
    closing = replace(
        best,
        jobs=after,
        files=frozenset(crossing(best.level, lives, carried)),
        links=frozenset(lfn for lfn, file in files.items() if file.how == "link"),
    )
    return replace(
        apart,
        rooms={job: room for job, room in apart.rooms.items() if job not in after},
        whole=placement.whole or placement,
        closing=closing,
    )


def _elsewhere(
    catalogs: Catalogs, placement: Placement, lives: dict[str, Life], level: int
) -> Iterator[tuple[str, Placed]]:
    """Files whose place is another one with the cut after ``level``."""
    programs = placement.files.keys() - catalogs.replicas.replicas.keys()
    for lfn, file in placement.files.items():
        life = lives.get(lfn)
        if life is None or life.last <= level or _stays(file):
            continue
        where, why = (
            PFS,
            f"used after level {level}, when the reservation is given back",
        )
        if file.role == "input" and life.first > level and lfn not in programs:
            where = read_in_place(catalogs, placement, lfn)
        elif life.first <= level:
            why = "used before and after the reservation is given back"
            if file.how == "write":  # it is copied when it is made
                yield lfn, replace(file, reason=f"{why}: copied to the PFS as well")
                continue
        on, how = home(where, file.role, placement.tier)
        yield lfn, replace(file, tier=on, how=how, reason=why)


def _stays(file: Placed) -> bool:
    """Whether jobs find it on the PFS anyway."""
    return file.tier == PFS and file.how != "link"
