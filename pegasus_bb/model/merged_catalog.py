"""A catalog that a workflow carries, and the file of the same kind. Pegasus takes both:
what the workflow says of a site, an LFN or a program wins (ReplicaCatalogBridge,
TransformationFactory, CPlanner.loadSiteStore)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pegasus_bb.model.document import Data, Document, Entry
from pegasus_bb.model.storage_file import declared_twice

# Lists of a catalog -> what an item is, and the keys that say which it is.
_LISTS = {
    "sites": ("a site", ("name",)),
    "replicas": ("a replica", ("lfn",)),
    "transformations": ("a transformation", ("namespace", "name", "version")),
    "containers": ("a container", ("name",)),
}
_SITE = "a site of a transformation"
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
        for length in (4, 2, 1):  # a site of a program, an item, a list
            there = self.places.get(tuple(keys[:length]))
            if there is not None and len(keys) >= length:
                return (*there, *keys[length:])
        return None


def merged(own: Document, file: Document) -> MergedCatalog:
    """Return the catalog ``own`` of a workflow with what only ``file`` has. Raises
    CatalogError for a list that is none, and if both declare tiers or speeds, and not
    the same."""
    data: Data = dict(own.data)
    places: dict[_Place, _Place] = {}
    for key, value in file.data.items():
        if key not in own.data:
            data[key] = value
            places[key,] = (key,)
        elif key.startswith(_OURS) and value != data[key]:
            raise declared_twice(file, own, key)
        elif key in _LISTS:
            data[key] = _joined(key, own, file, places)
    return MergedCatalog(own.path, data, own.text, own.root, file, places)


def _joined(
    key: str, own: Document, file: Document, places: dict[_Place, _Place]
) -> list[Any]:
    what, names = _LISTS[key]
    mine = own.entry().entries(key, what)
    known = {_identity(each, names): at for at, each in enumerate(mine)}
    joined = [each.data for each in mine]
    for entry in file.entry().entries(key, what):
        place = known.get(_identity(entry, names))
        if place is None:
            places[key, len(joined)] = entry.at
            joined.append(entry.data)
        elif key == "transformations":
            joined[place] = _with_more_sites(mine[place], entry, places)
    return joined


def _identity(entry: Entry, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(entry.data.get(each) or "") for each in names)


def _with_more_sites(
    own: Entry, below: Entry, places: dict[_Place, _Place]
) -> dict[str, Any]:
    """The program ``own``, with the sites that only ``below`` has."""
    sites = own.entries("sites", _SITE)
    names = {str(each.data.get("name")) for each in sites}
    joined = [each.data for each in sites]
    for each in below.entries("sites", _SITE):
        if str(each.data.get("name")) not in names:
            here = (*own.at, "sites", len(joined))
            places[here] = each.at
            joined.append(each.data)
    return {**own.data, "sites": joined} if len(joined) > len(sites) else own.data
