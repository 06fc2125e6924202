"""Workflows that write on a flash device, many at once.

workflows:
  count: 40            # at any time; one that ends is followed by another
  users: 4
  cores: 8             # of one workflow
  rate: 100MB/s        # of one task that writes
  spread: 0.3          # sigma of sizes and times, log-normal
  pause: 60s           # mean, before the next
  shapes: [{name: chain, stages: [...]}]
stages:                # those of a shape
  - {name: split, tasks: 4, writes: 1GB}
  - {name: work, tasks: 8, writes: 1GB, computes: 60s, reads: {split: 1}}
  - {name: merge, tasks: 1, writes: 1GB, reads: {work: all}, keep: true}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pegasus_bb.model.document import Entry
from pegasus_bb.model.quantities import (
    check_mapping,
    read_count,
    read_number,
    read_seconds,
    read_size,
)
from pegasus_bb.model.speeds import read_rate
from pegasus_bb_lab.model.flash_users import read_many

ALL = "all"
_MOST_READS = 2_000_000  # tasks of a shape, and files that they read
_KEYS = ("count", "users", "cores", "rate", "spread", "pause", "shapes")
_STAGE = ("name", "tasks", "writes", "computes", "reads", "keep")


@dataclass(frozen=True, slots=True)
class Stage:
    """Tasks that are alike. Each writes one file."""

    name: str
    tasks: int
    writes: int  # bytes
    computes: float  # seconds, before it writes
    reads: Mapping[int, int | None]  # stage: how many of its files; None: all
    keep: bool  # results: they stay until the workflow ends


@dataclass(frozen=True, slots=True)
class Shape:
    name: str
    stages: tuple[Stage, ...]


@dataclass(frozen=True, slots=True)
class Workflows:
    count: int
    users: int
    cores: int
    rate: float  # bytes per second
    spread: float
    pause: float  # seconds
    shapes: tuple[Shape, ...]


def read_workflows(entry: Entry) -> Workflows:
    check_mapping(entry, _KEYS, _KEYS)
    shapes = entry.entries("shapes", "a shape", "name", "stages")
    if not shapes:
        raise entry.below("shapes").error("no shapes")
    return Workflows(
        count=read_many(entry, "count"),
        users=read_many(entry, "users"),
        cores=read_many(entry, "cores"),
        rate=read_rate(entry.below("rate")),
        spread=read_number(entry, "spread", 0, 3),
        pause=read_seconds(entry, "pause", "such as 60s"),
        shapes=tuple(_read_shape(each) for each in shapes),
    )


def _read_shape(entry: Entry) -> Shape:
    entry.check_keys(("name", "stages"), "a shape")
    found: list[Stage] = []
    for each in entry.entries("stages", "a stage", "name"):
        found.append(_read_stage(each, [stage.name for stage in found]))
    reads = sum(stage.tasks * (1 + _files_read(stage, found)) for stage in found)
    if reads > _MOST_READS:
        what = f"{reads} tasks and reads of a file; at most {_MOST_READS} do"
        raise entry.below("stages").error(what, "")
    return Shape(str(entry.data["name"]), tuple(found))


def _files_read(stage: Stage, every: list[Stage]) -> int:
    """By one of its tasks."""
    there = {place: every[place].tasks for place in stage.reads}
    return sum(
        there[place] if many is None else min(many, there[place])
        for place, many in stage.reads.items()
    )


def _read_stage(entry: Entry, earlier: list[str]) -> Stage:
    check_mapping(entry, _STAGE, ("name", "tasks", "writes"))
    name = str(entry.data["name"])
    keep = entry.data.get("keep", False)
    if name in earlier:
        raise entry.below("name").error("a second stage of that name")
    if not isinstance(keep, bool):
        raise entry.below("keep").error("keep is true or false")
    computes = "computes" in entry.data
    return Stage(
        name=name,
        tasks=read_many(entry, "tasks"),
        writes=read_size(entry, "writes"),
        computes=read_seconds(entry, "computes", "such as 60s") if computes else 0.0,
        reads=_read_reads(entry, earlier),
        keep=keep,
    )


def _read_reads(entry: Entry, earlier: list[str]) -> dict[int, int | None]:
    found: dict[int, int | None] = {}
    reads = entry.mapping("reads")
    for name, many in reads.items():
        at = entry.below("reads", name)
        if name not in earlier:
            what = "it reads a stage that does not stand above it"
            raise at.error(what, name, f"one of: {', '.join(earlier) or 'none'}")
        whole = many == ALL
        place = earlier.index(name)
        found[place] = None if whole else read_count(entry.below("reads"), name)
    return found
