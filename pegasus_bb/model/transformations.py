"""The transformation catalog: the program of a transformation on each site."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pegasus_bb.core.errors import CatalogError, UsageError
from pegasus_bb.core.files import is_dir, is_file
from pegasus_bb.model.default_sites import LOCAL
from pegasus_bb.model.document import Data, Document, Entry, Key

MAPPER = "pegasus.catalog.transformation.mapper"  # a property: programs that are taken
OS = ("os.type", "os.release", "os.version")
# Any other key is a mistake, but for extensions (x-): pegasus-plan refuses it as well.
_OF_A_TRANSFORMATION = (
    "namespace",
    "name",
    "version",
    "sites",
    "profiles",
    "requires",
    "hooks",
    "metadata",
    "checksum",
)
_OF_A_PROGRAM = (
    "name",
    "pfn",
    "type",
    "container",
    "profiles",
    "arch",
    *OS,
    "bypass",
    "metadata",
)


@dataclass(frozen=True, slots=True)
class Executable:
    site: str
    pfn: str
    kind: str  # installed | stageable
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    container: str = ""  # its name in the catalog; empty: none


@dataclass(frozen=True)
class Transformation:
    """A program on all its sites; ``data`` is its whole entry in the catalog."""

    namespace: str
    name: str
    version: str
    executables: tuple[Executable, ...]
    profiles: Mapping[str, Mapping[str, Any]]
    requires: tuple[str, ...]
    data: Data
    checksum: str = ""  # of a program that is staged: sha256:..., if the catalog says

    @property
    def full_name(self) -> str:
        return full_name(self.namespace, self.name, self.version)


def full_name(namespace: str, name: str, version: str) -> str:
    space = f"{namespace}::" if namespace else ""
    return f"{space}{name}" + (f":{version}" if version else "")


@dataclass(frozen=True)
class TransformationCatalog:
    document: Document
    transformations: dict[str, Transformation]

    def error(
        self, name: str, what: str, found: object = "", would_do: str = ""
    ) -> CatalogError:
        """An error about the transformation of full ``name``, with its line."""
        at = next(self.places(name), ("transformations",))
        return self.document.error(what, at, found, would_do)

    def places(self, name: str, site: str = "") -> Iterator[tuple[Key, ...]]:
        """The keys of the entries of full ``name``, those of ``site`` before."""
        for index, data in enumerate(self.document.data.get("transformations") or ()):
            parts = (str(data.get(key, "")) for key in ("namespace", "name", "version"))
            if full_name(*parts) != name:
                continue
            for place, program in enumerate(data.get("sites") or () if site else ()):
                if program["name"] == site:
                    yield "transformations", index, "sites", place
            yield "transformations", index

    def executable(self, full_name: str, site: str) -> Executable | None:
        """The program on ``site``, installed before stageable; else one that can be
        staged from another site; else one that is in a container; else None."""
        transformation = self.transformations.get(full_name)
        if transformation is None:
            return None
        executables = transformation.executables
        here = [e for e in executables if e.site == site]
        installed = [e for e in here if e.kind == "installed"]
        stageable = [e for e in executables if e.kind == "stageable"]
        own = [e for e in here if e.kind == "stageable"]
        # An image has its programs on every site (Pegasus: PM-1530).
        inside = [e for e in executables if e.container]
        return next(iter([*installed, *own, *stageable, *inside]), None)

    def profiles(
        self, full_name: str, site: str
    ) -> Iterator[Mapping[str, Mapping[str, Any]]]:
        """Yield those of the program on ``site``, then those of its transformation."""
        here = self.executable(full_name, site)
        if here is not None:
            yield here.profiles
        if full_name in self.transformations:
            yield self.transformations[full_name].profiles

    def is_only_local(self, full_name: str, site: str) -> bool:
        """Whether site local has the program, and ``site`` cannot have it."""
        here = self.executable(full_name, "local")
        return here is not None and self.executable(full_name, site) is None


def read_transformations(document: Document) -> TransformationCatalog:
    """The typed view of ``document``. Raises CatalogError."""
    by_name: dict[str, Transformation] = {}
    for entry in document.entry().entries(
        "transformations", "a transformation", "name"
    ):
        transformation = _transformation(entry)
        known = by_name.get(transformation.full_name)
        by_name[transformation.full_name] = _merged(known, transformation)
    return TransformationCatalog(document, by_name)


def _merged(known: Transformation | None, more: Transformation) -> Transformation:
    if known is None:
        return more
    return replace(
        known,
        executables=known.executables + more.executables,
        requires=tuple(dict.fromkeys(known.requires + more.requires)),
    )


def _transformation(entry: Entry) -> Transformation:
    data = entry.data
    entry.check_keys(_OF_A_TRANSFORMATION, "a transformation")
    sites = entry.entries("sites", "a site of a transformation", "name", "pfn")
    return Transformation(
        namespace=str(data.get("namespace", "")),
        name=str(data["name"]),
        version=str(data.get("version", "")),
        executables=tuple(map(_executable, sites)),
        profiles=entry.profiles(),
        requires=tuple(map(str, entry.items("requires"))),
        data=data,
        checksum=entry.checksum(),
    )


def _executable(entry: Entry) -> Executable:
    site = entry.data
    entry.check_keys(_OF_A_PROGRAM, "a site of a transformation")
    kind = site.get("type", "installed")
    container = site.get("container") or ""
    return Executable(
        str(site["name"]),
        str(site["pfn"]),
        str(kind),
        entry.profiles(),
        str(container),
    )


def with_programs(document: Document, folders: Iterable[Path]) -> Document:
    """Return the transformation catalog ``document`` with the programs of ``folders``:
    --transformations-dir.

    A program is stageable from site local. A job names it with or without the ending
    of the file. One that the catalog has stays as it is; earlier folders win. Raises
    UsageError if there is no such folder.
    """
    known = document.data.get("transformations")
    if known is not None and not isinstance(known, list):
        return document  # its reader says what is wrong
    found = {_plain_name(entry): entry for entry in known or ()}
    added: dict[str, Data] = {}
    for folder in folders:
        for name, entry in _programs_in(folder):
            if name not in found:
                added.setdefault(name, entry)
    data = {**document.data, "transformations": [*(known or ()), *added.values()]}
    return document.with_data(data)


def _plain_name(entry: object) -> str:
    """The name of a transformation without a namespace and a version, else empty."""
    if not isinstance(entry, dict) or entry.get("namespace") or entry.get("version"):
        return ""
    return str(entry.get("name"))


def _programs_in(folder: Path) -> Iterator[tuple[str, Data]]:
    if not is_dir(folder):
        raise UsageError(f"--transformations-dir {folder}: there is no such folder")
    files = [each for each in sorted(folder.iterdir()) if is_file(each)]
    programs = [each for each in files if os.access(each, os.X_OK)]
    for name, file in [(p.name, p) for p in programs] + [(p.stem, p) for p in programs]:
        place = {"name": LOCAL, "pfn": str(file.resolve()), "type": "stageable"}
        yield name, {"name": name, "sites": [place]}
