"""What keeping the reservation for a part of the levels alone would come to.

Jobs before and after that part run on the PFS. What they use has to be there: what they
make or bring is there anyway, and found behind links by jobs on the tier; what a job on
the tier has made is copied when it is made; an input that jobs on the tier and later
ones read is copied to the PFS and found behind a link as long as the tier is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import NamedTuple

from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.graph import Graph
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.placement.executables import program_users


class Cut(NamedTuple):
    """From after level ``opens`` (0: from the start) to after ``closes``. Bytes."""

    opens: int
    closes: int
    need: int  # on the tier in between
    carried: int  # copied to the PFS, for jobs after it
    moved: int  # read and written on the PFS in place of the tier
    is_free: bool  # nothing beside it is the user's own choice, or of unknown size


class Life(NamedTuple):
    """The levels in which jobs use a file, and those of each use."""

    first: int
    last: int
    uses: list[int]


class _Known(NamedTuple):
    """A file that a cut may change something about."""

    life: Life
    size: int
    made: bool  # by a job
    here: bool  # on the tier; else an input that only a link leads to


def lives_of(
    workflow: Workflow, graph: Graph, catalogs: Catalogs, site: str
) -> dict[str, Life]:
    """Of all files, staged programs included, by LFN. Linear in the workflow."""
    uses: dict[str, list[int]] = {}
    for job in workflow.jobs.values():
        for use in job.uses:
            uses.setdefault(use.lfn, []).append(graph.level[job.id])
    staged = program_users(workflow, catalogs.transformations, site)
    for lfn, users in staged.items():
        uses.setdefault(lfn, []).extend(graph.level[ident] for ident in users)
    return {lfn: Life(min(at), max(at), at) for lfn, at in uses.items()}


class Cuts:
    """All cuts of one placement. ``traffic`` is what tasks read and write on the tier.

    One end given, all cuts with it come in time linear in the uses of all files.
    """

    def __init__(
        self, graph: Graph, placement: Placement, lives: dict[str, Life]
    ) -> None:
        self.levels = max(graph.level.values(), default=0)
        self.traffic = 0
        self._begin: list[list[_Known]] = [[] for _ in range(self.levels + 1)]
        self._in_rooms = [0] * (self.levels + 1)
        self._latest, self._earliest = self.levels, 0  # to open, to close
        for lfn, file in placement.files.items():
            if lfn in lives and (placement.on_tier(lfn) or file.how == "link"):
                here = placement.on_tier(lfn)
                made = lfn in graph.producer
                self._add(lives[lfn], file.size, made, here, lfn in placement.pinned)
        for job, room in placement.rooms.items():
            for lfn in room.stage_out:
                size, named = placement.files[lfn].size or 0, lfn in placement.to_rooms
                self._write(graph.level[job], size, named)

    def _add(
        self, life: Life, size: int | None, made: bool, here: bool, pinned: bool
    ) -> None:
        if here and (size is None or pinned):
            self._latest = min(self._latest, life.first - 1)
            self._earliest = max(self._earliest, life.last)
        elif size is None and life.first < life.last:
            self._earliest = max(self._earliest, life.last)
        known = _Known(life, size or 0, made, here)
        self.traffic += known.size * len(life.uses) * here
        self._begin[life.first].append(known)

    def _write(self, level: int, size: int, named: bool) -> None:
        """What a job makes in its room; ``named``: the user wants it there."""
        if named:
            self._latest = min(self._latest, level - 1)
            self._earliest = max(self._earliest, level)
        self.traffic += size
        self._in_rooms[level] += size

    def row(self, opens: int) -> Iterator[Cut]:
        """Those that open after level ``opens``, by where they close."""
        sums = _Sums(self.levels)
        for level in range(opens + 1, self.levels + 1):
            self._count(sums, level)
        return self._row(sums, opens)

    def rows(self) -> Iterator[Cut]:
        """All of them: as many as there are pairs of levels."""
        sums = _Sums(self.levels)
        for opens in range(self.levels - 1, -1, -1):
            self._count(sums, opens + 1)
            yield from self._row(sums, opens)

    def column(self, closes: int) -> Iterator[Cut]:
        """Those that close after level ``closes``, the latest to open first."""
        need = carried = stays = 0
        for opens in range(closes - 1, -1, -1):
            stays += self._in_rooms[opens + 1]
            for life, size, made, here in self._begin[opens + 1]:
                inside = life.last <= closes
                carried += size * (not inside)
                if here and (made or inside):
                    need += size
                    stays += size * sum(level <= closes for level in life.uses)
            yield self._cut(opens, closes, need, carried, stays)

    def _count(self, sums: _Sums, level: int) -> None:
        sums.stays[level] += self._in_rooms[level]
        for known in self._begin[level]:
            sums.add(known)

    def _row(self, sums: _Sums, opens: int) -> Iterator[Cut]:
        after = slice(opens + 1, None)
        each = (accumulate(part[after]) for part in sums)
        for closes, figures in enumerate(zip(*each, strict=True), start=opens + 1):
            yield self._cut(opens, closes, *figures)

    def _cut(self, opens: int, closes: int, need: int, carried: int, stays: int) -> Cut:
        free = opens <= self._latest and closes >= self._earliest
        is_free = free or (opens, closes) == (0, self.levels)
        return Cut(opens, closes, need, carried, self.traffic - stays, is_free)


class _Sums:
    """By level: what is added to a figure of those cuts that close there or later."""

    def __init__(self, levels: int) -> None:
        self.need, self.carried = [0] * (levels + 1), [0] * (levels + 1)
        self.stays = [0] * (levels + 1)  # what tasks read and write on the tier still

    def __iter__(self) -> Iterator[list[int]]:
        return iter((self.need, self.carried, self.stays))

    def add(self, known: _Known) -> None:
        life, size, made, here = known
        self.carried[life.first] += size
        self.carried[life.last] -= size
        if here and made:
            self.need[life.first] += size
            for level in life.uses:
                self.stays[level] += size
        elif here:  # inside a cut alone, or not on the tier at all
            self.need[life.last] += size
            self.stays[life.last] += size * len(life.uses)


def crossing(level: int, lives: dict[str, Life], lfns: Iterable[str]) -> Iterator[str]:
    """Those of ``lfns`` that are used on both sides of the cut after ``level``."""
    for lfn in lfns:
        if lfn in lives and lives[lfn].first <= level < lives[lfn].last:
            yield lfn
