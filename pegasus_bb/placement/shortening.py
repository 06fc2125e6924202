"""The reservation that jobs share, kept for a part of the run: it opens after the first
jobs, closes before the last ones, or both.

After which levels is decided by what is reserved, in bytes x time. It is asked for
once, so nobody waits in a queue for it twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate

from pegasus_bb.errors import UsageError
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.graph import Graph
from pegasus_bb.model.history import History
from pegasus_bb.model.placement import PFS, Closing, Opening, Placed, Placement
from pegasus_bb.model.settings import AUTO, Settings
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.placement.chains import chains
from pegasus_bb.placement.cuts import Cut, Cuts, Life, crossing, lives_of
from pegasus_bb.placement.cutting import Priced, Prices, Wanted, best, why_not
from pegasus_bb.placement.executables import runs_on
from pegasus_bb.placement.lasting import Lasting, lasting
from pegasus_bb.placement.liveness import Ending
from pegasus_bb.placement.moving import moved, read_in_place
from pegasus_bb.placement.policy import home
from pegasus_bb.placement.sizing import automatic_capacity, wanted_capacity
from pegasus_bb.units import round_up

_NOT_BOTH = "with the other end as it was asked for no cut would save anything"


def shortened(
    workflow: Workflow,
    graph: Graph,
    catalogs: Catalogs,
    settings: Settings,
    placement: Placement,
    ending: Ending,
    history: History,
) -> Placement:
    """``placement``, without capacity, with the cut that ``settings`` want and that
    pays.

    Linear in the workflow but for ``best``. Raises UsageError where a cut was insisted
    on and cannot be.
    """
    lives = lives_of(workflow, graph, catalogs, placement.tier.site)
    lasts = lasting(workflow, graph, history)
    cuts = Cuts(graph, placement, lives)
    prices = _prices(graph, settings, placement, lasts, cuts.traffic, history.wait)
    wanted = Wanted(settings.open, settings.close)
    why = _why_none(workflow, placement, ending)
    found = None if why else best(cuts, prices, wanted)
    _check_insisted(cuts, prices, wanted, found, why)
    told = _Told(cuts, prices, wanted, found, why)
    if found is None:
        return replace(placement, opening=told.opening(), closing=told.closing())
    return _cut(workflow, graph, catalogs, placement, lives, found.cut, told)


def _why_none(workflow: Workflow, placement: Placement, ending: Ending) -> str:
    """Why there can be no cut, whatever the files are."""
    jobs = workflow.jobs.values()
    if any(job.kind != "job" for job in jobs):
        return "which files a sub-workflow reads is not known"
    if any(not runs_on(job, placement.tier.site) for job in jobs):
        return "jobs run elsewhere, and levels do not tell what comes after them"
    if not ending.delivered:
        return "results are not staged out"
    return ""


def _prices(
    graph: Graph,
    settings: Settings,
    placement: Placement,
    lasts: Lasting,
    traffic: int,
    wait: float | None,
) -> Prices:
    given = wanted_capacity(placement.tier, settings)

    def reserve(need: int) -> int:
        if given == AUTO:
            return automatic_capacity(placement.tier, settings.headroom, need)
        return round_up(given, placement.tier.granularity)

    def fits(need: int) -> bool:
        return given == AUTO or need <= given

    rooms = list(accumulate(_rooms(graph, placement, lasts)))
    whole = reserve(placement.need) * lasts.span + rooms[-1]
    measure = chains(graph, lasts)
    return Prices(measure, reserve, fits, rooms, whole, traffic, wait)


def _rooms(graph: Graph, placement: Placement, lasts: Lasting) -> list[float]:
    """What the rooms of each level's jobs reserve, from level 0, where none is."""
    cost = [0.0] * (1 + max(graph.level.values(), default=0))
    for job, room in placement.rooms.items():
        if placement.room_tier.is_reserved:
            cost[graph.level[job]] += room.capacity * lasts.rooms[job]
    return cost


def _check_insisted(
    cuts: Cuts, prices: Prices, wanted: Wanted, found: Priced | None, why: str
) -> None:
    """Raises UsageError."""
    asked = [
        ("open", "late", "opened late", wanted.opens, cuts.column(cuts.levels)),
        ("close", "early", "given back early", wanted.closes, cuts.row(0)),
    ]
    for name, insisting, what, said, alone in asked:
        if found is None and said == insisting:
            saves = any(prices.saves(prices.of(each)) for each in alone)
            none = "no cut through the workflow would save anything"
            why = why or (_NOT_BOTH if saves else none)
            raise UsageError(
                f"--bb-{name} {said}: the reservation cannot be {what}: {why}; "
                f"leave it out, or say --bb-{name} auto"
            )


@dataclass(frozen=True)
class _Told:
    """The choice for both ends, in figures, or why an end stays."""

    cuts: Cuts
    prices: Prices
    wanted: Wanted
    found: Priced | None
    why: str

    def opening(self) -> Opening | None:
        """Without the names of jobs and files. None where nobody asked for it."""
        if self.wanted.opens == "start":
            return None
        levels, prices, lasts = self.cuts.levels, self.prices, self.prices.chains.lasts
        found, unit, wait = self.found, lasts.unit, prices.wait
        if found is None or not found.cut.opens:
            why = self._why(self.cuts.column(levels), "close")
            whole = (lasts.span, lasts.span, 0.0, 0.0, 0.0, 0, 0)
            return Opening(0, levels, unit, *whole, wait=wait, why_none=why)
        return Opening(
            level=found.cut.opens,
            levels=levels,
            unit=unit,
            span=found.span,
            whole_span=lasts.span,
            late=found.reserved,
            whole=prices.whole,
            longer=prices.chains.longer(found.cut.opens),
            moved=found.cut.moved,
            traffic=prices.traffic,
            wait=wait,
        )

    def closing(self) -> Closing | None:
        """As ``opening``."""
        if self.wanted.closes == "end":
            return None
        levels, prices, lasts = self.cuts.levels, self.prices, self.prices.chains.lasts
        found, unit = self.found, lasts.unit
        if found is None or found.cut.closes == levels:
            why = self._why(self.cuts.row(0), "open")
            whole = (lasts.span, lasts.span, 0.0, 0.0, 0, 0, 0)
            return Closing(levels, levels, unit, *whole, why_none=why)
        return Closing(
            level=found.cut.closes,
            levels=levels,
            unit=unit,
            span=found.span,
            whole_span=lasts.span,
            early=found.reserved,
            whole=prices.whole,
            carried=found.cut.carried,
            moved=found.cut.moved,
            traffic=prices.traffic,
        )

    def _why(self, alone: Iterator[Cut], other: str) -> str:
        """Why this end stays where it is."""
        if self.why:
            return self.why
        why = why_not(map(self.prices.of, alone), self.prices)
        taken = "asking for it late" if other == "open" else "giving it back early"
        return why or f"{taken} saves as much alone"


def _cut(
    workflow: Workflow,
    graph: Graph,
    catalogs: Catalogs,
    placement: Placement,
    lives: dict[str, Life],
    cut: Cut,
    told: _Told,
) -> Placement:
    """With what jobs outside use on the PFS, and no rooms for them."""
    files = dict(_elsewhere(catalogs, placement, lives, cut))
    apart = moved(placement, files)
    level, opening, closing = graph.level, told.opening(), told.closing()
    if cut.opens and opening is not None:
        used = [lfn for lfn in lives if lives[lfn].first <= cut.opens]
        opening = replace(
            opening,
            jobs=frozenset(i for i in workflow.jobs if level[i] <= cut.opens),
            files=frozenset(lfn for lfn in used if _is_used_in(cut, lives[lfn])),
            used=frozenset(used),
        )
    if cut.closes < told.cuts.levels and closing is not None:
        carried = (lfn for lfn in apart.files if apart.on_tier(lfn))
        closing = replace(
            closing,
            jobs=frozenset(i for i in workflow.jobs if level[i] > cut.closes),
            files=frozenset(crossing(cut.closes, lives, carried)),
            links=frozenset(_later_links(files, lives, cut)),
        )
    inside = {
        job: room
        for job, room in apart.rooms.items()
        if cut.opens < level[job] <= cut.closes
    }
    whole = placement.whole or placement
    return replace(apart, rooms=inside, whole=whole, opening=opening, closing=closing)


def _later_links(
    files: Mapping[str, Placed], lives: Mapping[str, Life], cut: Cut
) -> Iterator[str]:
    for lfn, file in files.items():
        if file.how == "link" and lives[lfn].first > cut.closes:
            yield lfn


def _is_used_in(cut: Cut, life: Life) -> bool:
    return any(cut.opens < level <= cut.closes for level in life.uses)


def _elsewhere(
    catalogs: Catalogs, placement: Placement, lives: dict[str, Life], cut: Cut
) -> Iterator[tuple[str, Placed]]:
    """Files whose place is another one with the cut."""
    programs = placement.files.keys() - catalogs.replicas.replicas.keys()
    for lfn, file in placement.files.items():
        life = lives.get(lfn)
        if life is None or (cut.opens < life.first and life.last <= cut.closes):
            continue
        own = file.role == "input" and lfn not in programs
        if life.first <= cut.opens:
            if file.tier != PFS:
                where = read_in_place(catalogs, placement, lfn) if own else PFS
                why = f"used up to level {cut.opens}, before the reservation is there"
                yield lfn, _placed_at(where, file, placement, why)
        elif not _stays(file):
            where = PFS
            why = f"used after level {cut.closes}, when the reservation is given back"
            if own and life.first > cut.closes:
                where = read_in_place(catalogs, placement, lfn)
            elif life.first <= cut.closes:
                why = "used before and after the reservation is given back"
                if file.how == "write":  # it is copied when it is made
                    yield lfn, replace(file, reason=f"{why}: copied to the PFS as well")
                    continue
            yield lfn, _placed_at(where, file, placement, why)


def _placed_at(where: str, file: Placed, placement: Placement, why: str) -> Placed:
    on, how = home(where, file.role, placement.tier)
    return replace(file, tier=on, how=how, reason=why)


def _stays(file: Placed) -> bool:
    """Whether jobs find it on the PFS anyway."""
    return file.tier == PFS and file.how != "link"
