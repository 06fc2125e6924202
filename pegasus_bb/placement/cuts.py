"""What giving the reservation back after each level of the graph would come to.

After the cut jobs run on the PFS. What they read has to be there: what a job has made
on the tier is copied when it is made, an input is copied to the PFS and found behind a
link as long as the tier is there.
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
    """After one level. Bytes."""

    level: int
    need: int  # on the tier before it
    carried: int  # copied to the PFS, for jobs on the other side
    moved: int  # read and written on the PFS in place of the tier
    is_free: bool  # no file after it is the user's own choice, or of unknown size


class Life(NamedTuple):
    """The levels in which jobs use a file, and those of each use."""

    first: int
    last: int
    uses: list[int]


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


def cuts(
    graph: Graph, placement: Placement, lives: dict[str, Life]
) -> tuple[int, list[Cut]]:
    """What tasks read and write on the tier, and a cut after each level but the last.
    Linear in the uses of all files."""
    levels = max(graph.level.values(), default=0)
    sums = _Sums(levels)
    for lfn, file in placement.files.items():
        if lfn not in lives:
            continue
        life, made = lives[lfn], lfn in graph.producer
        if placement.on_tier(lfn):
            sums.add(life, file.size, made, lfn in placement.pinned)
        elif file.how == "link":
            sums.carry(life, file.size)
    for job, room in placement.rooms.items():
        for lfn in room.stage_out:
            size, named = placement.files[lfn].size or 0, lfn in placement.to_rooms
            sums.write(graph.level[job], size, named)
    return sums.traffic, list(sums.cuts())


class _Sums:
    """By level, from 0: what is added to a figure there, or up to there."""

    def __init__(self, levels: int) -> None:
        self.traffic = 0
        self._levels = levels
        self._need, self._carried = [0] * (levels + 1), [0] * (levels + 1)
        self._moved, self._bound = [0] * (levels + 1), 0

    def add(self, life: Life, size: int | None, made: bool, pinned: bool) -> None:
        """A file on the tier."""
        if size is None or pinned:
            self._bound = max(self._bound, life.last)
        size = size or 0
        self.traffic += size * len(life.uses)
        if made:
            self._need[life.first] += size
            for level in life.uses:
                self._moved[level] += size
        else:  # on one side only, or not on the tier at all
            self._need[life.last] += size
            self._moved[life.last] += size * len(life.uses)
        self.carry(life, size)

    def carry(self, life: Life, size: int | None) -> None:
        """A file that is not where jobs after a cut would look for it."""
        if size is None and life.first < life.last:
            self._bound = max(self._bound, life.last)
        self._carried[life.first] += size or 0
        self._carried[life.last] -= size or 0

    def write(self, level: int, size: int, named: bool) -> None:
        """What a job makes in its room; ``named``: the user wants it there."""
        if named:
            self._bound = max(self._bound, level)
        self.traffic += size
        self._moved[level] += size

    def cuts(self) -> Iterator[Cut]:
        """Each after a level, the first one first."""
        rows = zip(
            accumulate(self._need),
            accumulate(self._carried),
            accumulate(self._moved),
            strict=True,
        )
        whole = sum(self._moved)
        for level, (need, carried, before) in enumerate(rows):
            if 0 < level < self._levels:
                free = level >= self._bound
                yield Cut(level, need, carried, whole - before, free)


def crossing(level: int, lives: dict[str, Life], lfns: Iterable[str]) -> Iterator[str]:
    """Those of ``lfns`` that are used on both sides of the cut after ``level``."""
    for lfn in lfns:
        if lfn in lives and lives[lfn].first <= level < lives[lfn].last:
            yield lfn
