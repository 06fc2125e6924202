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
from dataclasses import dataclass, replace
from types import MappingProxyType

from pegasus_bb.model.document import Entry
from pegasus_bb.model.quantities import count, flag, number, rate, seconds, size, text
from pegasus_bb.model.records import key, read_record
from pegasus_bb_lab.model.flash_users import many

ALL = "all"
_MOST_READS = 2_000_000  # tasks of a shape, and files that they read


def _reads(entry: Entry) -> dict[str, int | None]:
    """Name of a stage -> how many of its files; None: all."""
    if not isinstance(entry.data, dict):
        would_do = "reads: {split: 1}"
        raise entry.error("reads is a mapping of stages to counts", would_do=would_do)
    return {
        name: None if many == ALL else count()(entry.below(name))
        for name, many in entry.data.items()
    }


@dataclass(frozen=True, slots=True)
class Stage:
    """Tasks that are alike. Each writes one file."""

    name: str = key(text)
    tasks: int = key(many)
    writes: int = key(size())  # bytes
    computes: float = key(seconds("such as 60s"), 0.0)  # before it writes
    # Its place: how many of its files; None: all.
    reads: Mapping[int, int | None] = key(_reads, MappingProxyType({}))
    keep: bool = key(flag, False)  # results: they stay until the workflow ends


@dataclass(frozen=True, slots=True)
class Shape:
    name: str
    stages: tuple[Stage, ...]


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


def _read_stage(entry: Entry, earlier: list[str]) -> Stage:
    stage = read_record(Stage, entry)
    if stage.name in earlier:
        raise entry.below("name").error("a second stage of that name")
    for name in map(str, stage.reads):  # by name yet
        if name not in earlier:
            what = "it reads a stage that does not stand above it"
            mend = f"one of: {', '.join(earlier) or 'none'}"
            raise entry.below("reads", name).error(what, name, mend)
    by_place = {earlier.index(str(name)): many for name, many in stage.reads.items()}
    return replace(stage, reads=by_place)


def _files_read(stage: Stage, every: list[Stage]) -> int:
    """By one of its tasks."""
    there = {place: every[place].tasks for place in stage.reads}
    return sum(
        there[place] if many is None else min(many, there[place])
        for place, many in stage.reads.items()
    )


def _shapes(entry: Entry) -> tuple[Shape, ...]:
    workflows = entry.document.entry(*entry.at[:-1])
    shapes = workflows.entries(entry.key, "a shape", "name", "stages")
    if not shapes:
        raise entry.error("no shapes")
    return tuple(_read_shape(each) for each in shapes)


@dataclass(frozen=True, slots=True)
class Workflows:
    count: int = key(many)
    users: int = key(many)
    cores: int = key(many)
    rate: float = key(rate)  # bytes per second
    spread: float = key(number(0, 3))
    pause: float = key(seconds("such as 60s"))
    shapes: tuple[Shape, ...] = key(_shapes)
