"""Pools of a tier: folders on parts of its flash, as the site catalog declares them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from pegasus_bb.core.paths import is_below
from pegasus_bb.model.document import Entry
from pegasus_bb.model.quantities import Reader, matching, size
from pegasus_bb.model.records import key, read_record

CLASSES = ("short", "medium", "long")
_NAME = "[A-Za-z][A-Za-z0-9_-]*"
_PATH = "[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*"


def _part(name: str, pattern: str, would_do: str) -> Reader[str]:
    return matching(pattern, f"no {name} of a pool", would_do)


@dataclass(frozen=True, slots=True)
class Pool:
    """A folder below a tier's path; a run has a folder of its own in it."""

    name: str = key(_part("name", _NAME, "name: fast"))
    # Below the tier's.
    path: str = key(_part("path", _PATH, "a path below the tier's: fast"))
    # Bytes that one run may put there; None: no limit.
    capacity: int | None = key(size("such as 700GiB"), None, default=None)
    # One of CLASSES; empty: files of any.
    lifetime: str = key(
        _part("class", "|".join(CLASSES), f"one of {CLASSES}"),
        "",
        name="class",
        default="",
    )
    # The storage pool that new files of the folder go to.
    beegfs_pool: str = key(
        _part("beegfs_pool", "[0-9]{0,9}", "beegfs_pool: 2"), "", default=""
    )


def read_pools(entry: Entry) -> tuple[Pool, ...]:
    """The key ``pools`` of the tier ``entry``. Raises CatalogError."""
    entries = entry.entries("pools", "a pool", "name", "path")
    pools = [read_record(Pool, each) for each in entries]
    for (at, one), (_, other) in combinations(zip(entries, pools, strict=True), 2):
        _check_no_overlap(at, one, other)
    return tuple(pools)


def _check_no_overlap(entry: Entry, one: Pool, other: Pool) -> None:
    inside = is_below(one.path, other.path) or is_below(other.path, one.path)
    if one.name == other.name or one.path == other.path or inside:
        raise entry.error(
            "two pools of a tier have one name, or one folder",
            f"{other.name}: {other.path}",
            "a name and a folder of its own for each",
        )
