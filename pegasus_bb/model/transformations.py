"""The transformation catalog: which program a job's name means on which site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pegasus_bb.model.document import Data, Document, Key
from pegasus_bb.model.shape import list_under, profiles_under


@dataclass(frozen=True, slots=True)
class Executable:
    """A program on one site."""

    site: str
    pfn: str
    kind: str  # installed | stageable
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    container: str = ""  # its name in the catalog; empty: the program runs as it is


@dataclass(frozen=True)
class Transformation:
    """A program wherever it is; ``data`` is all that the catalog says of it."""

    namespace: str
    name: str
    version: str
    executables: tuple[Executable, ...]
    profiles: Mapping[str, Mapping[str, Any]]
    requires: tuple[str, ...]
    data: Data

    @property
    def full_name(self) -> str:
        """``namespace::name:version`` as far as there are such parts."""
        space = f"{self.namespace}::" if self.namespace else ""
        return f"{space}{self.name}" + (f":{self.version}" if self.version else "")


@dataclass(frozen=True)
class TransformationCatalog:
    """Transformations by full name, in the order of the file."""

    document: Document
    transformations: dict[str, Transformation]

    def executable(self, full_name: str, site: str) -> Executable | None:
        """The program on ``site``: installed before stageable; else one that can be
        staged from anywhere; else None."""
        found = self.transformations.get(full_name)
        if found is None:
            return None
        here = [e for e in found.executables if e.site == site]
        installed = [e for e in here if e.kind == "installed"]
        stageable = [e for e in found.executables if e.kind == "stageable"]
        own = [e for e in here if e.kind == "stageable"]
        return next(iter([*installed, *own, *stageable]), None)


def read_transformations(document: Document) -> TransformationCatalog:
    """The typed view of ``document``. Raises CatalogError."""
    entries = document.data.get("transformations") or []
    if not isinstance(entries, list):
        raise document.error("transformations are a list", ["transformations"], entries)
    found: dict[str, Transformation] = {}
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict) or not entry.get("name"):
            at = ["transformations", index]
            raise document.error("a transformation needs a name", at, entry)
        transformation = _read_entry(document, entry, index)
        known = found.get(transformation.full_name)
        found[transformation.full_name] = _joined(known, transformation)
    return TransformationCatalog(document, found)


def _joined(known: Transformation | None, more: Transformation) -> Transformation:
    """One program may have several entries, such as one per site."""
    if known is None:
        return more
    return replace(
        known,
        executables=known.executables + more.executables,
        requires=tuple(dict.fromkeys(known.requires + more.requires)),
    )


def _read_entry(document: Document, entry: Data, index: int) -> Transformation:
    at: list[Key] = ["transformations", index]
    executables = []
    for place, site in enumerate(list_under(document, entry, "sites", at)):
        if not isinstance(site, dict) or not site.get("pfn") or not site.get("name"):
            raise document.error(
                "a site of a transformation needs a name and a pfn",
                [*at, "sites", place],
            )
        kind = str(site.get("type", "installed"))
        profiles = profiles_under(document, site, [*at, "sites", place])
        container = str(site.get("container") or "")
        executables.append(
            Executable(str(site["name"]), str(site["pfn"]), kind, profiles, container)
        )
    return Transformation(
        namespace=str(entry.get("namespace", "")),
        name=str(entry["name"]),
        version=str(entry.get("version", "")),
        executables=tuple(executables),
        profiles=profiles_under(document, entry, at),
        requires=tuple(map(str, list_under(document, entry, "requires", at))),
        data=entry,
    )
