"""The replica catalog: where the files that no job makes can be found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.errors import CatalogError, UsageError
from pegasus_bb.model.document import Data, Document, Key
from pegasus_bb.model.shape import list_under, mapping_under
from pegasus_bb.units import parse_size


@dataclass(frozen=True, slots=True)
class Replica:
    """One copy of a file."""

    lfn: str
    pfn: str  # a URL or a path
    site: str
    size: int | None = None  # bytes, where the catalog says


@dataclass(frozen=True)
class ReplicaCatalog:
    """Replicas by LFN, in the order in which the sources name them."""

    document: Document
    replicas: dict[str, list[Replica]]

    def with_directory(self, folder: Path) -> ReplicaCatalog:
        """These and every file below ``folder`` (--input-dir), which come first."""
        found = {
            str(file.relative_to(folder)): str(file.resolve())
            for file in sorted(folder.rglob("*"))
            if file.is_file()
        }
        merged = {lfn: [Replica(lfn, pfn, "local")] for lfn, pfn in found.items()}
        for lfn, known in self.replicas.items():
            merged.setdefault(lfn, []).extend(known)
        entries = list(_entries_with(self.document.data.get("replicas") or (), found))
        data = {**self.document.data, "replicas": entries}
        return ReplicaCatalog(self.document.with_data(data), merged)


def _entries_with(known: Iterable[Data], found: dict[str, str]) -> Iterator[Data]:
    """The entries of a catalog with the files that were found in a folder."""
    new = {lfn: [{"site": "local", "pfn": pfn}] for lfn, pfn in found.items()}
    for entry in known:
        first = new.pop(str(entry["lfn"]), [])
        yield {**entry, "pfns": [*first, *(entry.get("pfns") or ())]}
    yield from ({"lfn": lfn, "pfns": pfns} for lfn, pfns in new.items())


def read_replicas(document: Document) -> ReplicaCatalog:
    """The typed view of ``document``. Raises CatalogError."""
    entries = document.data.get("replicas") or []
    if not isinstance(entries, list):
        raise document.error("replicas are a list", ["replicas"], entries)
    replicas: dict[str, list[Replica]] = {}
    for index, entry in enumerate(entries):
        _read_entry(document, entry, index, replicas)
    return ReplicaCatalog(document, replicas)


def _read_entry(
    document: Document, entry: Data, index: int, replicas: dict[str, list[Replica]]
) -> None:
    if not isinstance(entry, dict) or not entry.get("lfn"):
        raise document.error("a replica needs an lfn", ["replicas", index], entry)
    if entry.get("regex"):
        raise document.error(
            "patterns of replicas are not supported here",
            ["replicas", index, "regex"],
            entry["lfn"],
            "name each file, or plan with a real pegasus-plan",
        )
    lfn = str(entry["lfn"])
    size = _size(document, entry, index)
    for place, pfn in enumerate(
        list_under(document, entry, "pfns", ["replicas", index])
    ):
        if not isinstance(pfn, dict) or not pfn.get("pfn"):
            at = ["replicas", index, "pfns", place]
            raise document.error("a replica needs a pfn", at, pfn)
        found = Replica(lfn, str(pfn["pfn"]), str(pfn.get("site", "local")), size)
        replicas.setdefault(lfn, []).append(found)


def _size(document: Document, entry: Data, index: int) -> int | None:
    at: list[Key] = ["replicas", index]
    value = mapping_under(document, entry, "metadata", at).get("size")
    if value is None:
        return None
    try:
        return parse_size(value)
    except UsageError as error:
        at += ["metadata", "size"]
        raise document.error(f"a file's size: {error}", at, value) from error


def local_path(pfn: str) -> str | None:
    """The path of a PFN that is a path or a file:// URL, else None.

    Raises CatalogError for a relative path: nobody knows relative to what.
    """
    if pfn.startswith("file://"):
        path = pfn[len("file://") :]
        return path if path.startswith("/") else "/" + path.partition("/")[2]
    if "://" in pfn:
        return None
    if not pfn.startswith("/"):
        raise CatalogError(
            f"the PFN {pfn!r} is neither a URL nor an absolute path",
            would_do="write /absolute/path or a URL",
        )
    return pfn
