"""Pools of a tier: folders on parts of its flash, as the site catalog declares them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations

from pegasus_bb.core.paths import is_below
from pegasus_bb.model.document import Entry

CLASSES = ("short", "medium", "long")
_KEYS = ("name", "path", "capacity", "class", "beegfs_pool")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_PATH = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")


@dataclass(frozen=True, slots=True)
class Pool:
    """A folder below a tier's path; a run has a folder of its own in it."""

    name: str
    path: str  # below the tier's
    capacity: int | None = None  # bytes that one run may put there; None: no limit
    lifetime: str = ""  # one of CLASSES; empty: files of any
    beegfs_pool: str = ""  # the storage pool that new files of the folder go to


def read_pools(entry: Entry) -> tuple[Pool, ...]:
    """The key ``pools`` of the tier ``entry``. Raises CatalogError."""
    entries = entry.entries("pools", "a pool", "name", "path")
    pools = [_read_pool(each) for each in entries]
    for (at, one), (_, other) in combinations(zip(entries, pools, strict=True), 2):
        _check_no_overlap(at, one, other)
    return tuple(pools)


def _read_pool(entry: Entry) -> Pool:
    entry.check_keys(_KEYS, "a pool")
    values = {key: str(value) for key, value in entry.data.items()}
    _check(entry, "name", values["name"], _NAME.pattern, "name: fast")
    _check(
        entry, "path", values["path"], _PATH.pattern, "a path below the tier's: fast"
    )
    of_class = values.get("class", "")
    _check(entry, "class", of_class, "|" + "|".join(CLASSES), f"one of {CLASSES}")
    beegfs = values.get("beegfs_pool", "")
    _check(entry, "beegfs_pool", beegfs, "[0-9]{0,9}", "beegfs_pool: 2")
    capacity = None
    if "capacity" in entry.data:
        capacity = entry.below("capacity").size(would_do="such as 700GiB")
    return Pool(values["name"], values["path"], capacity, of_class, beegfs)


def _check(entry: Entry, key: str, value: str, pattern: str, would_do: str) -> None:
    if re.fullmatch(pattern, value) is None:
        raise entry.below(key).error(f"no {key} of a pool", value, would_do)


def _check_no_overlap(entry: Entry, one: Pool, other: Pool) -> None:
    inside = is_below(one.path, other.path) or is_below(other.path, one.path)
    if one.name == other.name or one.path == other.path or inside:
        raise entry.error(
            "two pools of a tier have one name, or one folder",
            f"{other.name}: {other.path}",
            "a name and a folder of its own for each",
        )
