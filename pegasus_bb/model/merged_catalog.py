"""A catalog that a workflow carries, and the file of the same kind. Pegasus takes both:
what the workflow says of a site, an LFN or a program wins (ReplicaCatalogBridge,
TransformationFactory, CPlanner.loadSiteStore)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pegasus_bb.model.document import Data, Document
from pegasus_bb.model.storage_file import declared_twice

# Lists of a catalog -> the keys that say which of their items is which.
_LISTS = {
    "sites": ("name",),
    "replicas": ("lfn",),
    "transformations": ("namespace", "name", "version"),
    "containers": ("name",),
}
_OURS = "x-storage-"
_Place: TypeAlias = tuple[object, ...]


@dataclass(frozen=True)
class MergedCatalog(Document):
    """The part of a workflow, with what only ``file`` has behind it. Errors name the
    file that an entry is from."""

    file: Document | None = None
    # Keys here -> keys there, of what is from ``file``.
    places: Mapping[_Place, _Place] = field(default_factory=dict)

    def at(self, keys: Sequence[object]) -> tuple[Document, Sequence[object]]:
        there = self._in_file(keys)
        return (self.file, there) if self.file and there else (self, keys)

    def _in_file(self, keys: Sequence[object]) -> _Place | None:
        for length in (2, 1):
            there = self.places.get(tuple(keys[:length]))
            if there is not None and len(keys) >= length:
                return (*there, *keys[length:])
        return None


def merged(own: Document, file: Document) -> MergedCatalog:
    """Return the catalog ``own`` of a workflow with what only ``file`` has. Raises
    CatalogError if both declare tiers or speeds, and not the same."""
    data: Data = dict(own.data)
    places: dict[_Place, _Place] = {}
    for key, value in file.data.items():
        if key not in own.data:
            data[key] = value
            places[key,] = (key,)
        elif key.startswith(_OURS) and value != data[key]:
            raise declared_twice(file, own, key)
        elif key in _LISTS and isinstance(value, list) and isinstance(data[key], list):
            data[key] = _joined(key, data[key], value, places)
    return MergedCatalog(own.path, data, own.text, own.root, file, places)


def _joined(
    key: str, own: list[Any], below: list[Any], places: dict[_Place, _Place]
) -> list[Any]:
    known = {_identity(key, entry): at for at, entry in enumerate(own)}
    joined = list(own)
    for at, entry in enumerate(below):
        mine = known.get(_identity(key, entry))
        if mine is None:
            places[key, len(joined)] = (key, at)
            joined.append(entry)
        elif key == "transformations":
            joined[mine] = _with_more_sites(joined[mine], entry)
    return joined


def _identity(key: str, entry: Any) -> tuple[str, ...] | None:
    if not isinstance(entry, dict):
        return None  # its reader says what is wrong
    return tuple(str(entry.get(each) or "") for each in _LISTS[key])


def _with_more_sites(own: Any, below: Any) -> Any:
    """The program ``own``, with the sites that only ``below`` has."""
    sites = own.get("sites") or []
    others = below.get("sites") or []
    if not all(isinstance(each, dict) for each in (*sites, *others)):
        return own
    names = {each.get("name") for each in sites}
    more = [each for each in others if each.get("name") not in names]
    return {**own, "sites": [*sites, *more]} if more else own
