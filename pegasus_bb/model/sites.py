"""The site catalog: typed views of what planning needs, over the whole document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pegasus_bb.model.document import Data, Document, Key
from pegasus_bb.model.parse import plain
from pegasus_bb.model.shape import list_under, profiles_under

SCRATCH = ("sharedScratch", "shared-scratch")
STORAGE = ("localStorage", "sharedStorage", "local-storage", "shared-storage")


@dataclass(frozen=True)
class Directory:
    """A directory of a site and how it is reached from elsewhere."""

    kind: str  # sharedScratch | localStorage | ...
    path: str
    urls: tuple[str, ...]  # of its file servers, in their order
    index: int  # its place in the site's list


@dataclass(frozen=True)
class Site:
    """One site; ``data`` is all that the catalog says of it."""

    name: str
    directories: tuple[Directory, ...]
    profiles: Mapping[str, Mapping[str, Any]]
    data: Data
    index: int  # its place in the document's list

    @property
    def scratch(self) -> Directory | None:
        """Where workflows run on this site."""
        return next((d for d in self.directories if d.kind in SCRATCH), None)

    @property
    def storage(self) -> Directory | None:
        """Where outputs go that are staged to this site."""
        return next((d for d in self.directories if d.kind in STORAGE), None)

    def profile(self, namespace: str, key: str) -> str | None:
        """A profile of the site, as text, or None."""
        value = self.profiles.get(namespace, {}).get(key)
        return None if value is None else plain(value)


@dataclass(frozen=True)
class SiteCatalog:
    """Sites by name, in the order of the file."""

    document: Document
    sites: dict[str, Site]

    def site(self, name: str) -> Site:
        """Raises CatalogError where there is no such site."""
        if name not in self.sites:
            raise self.document.error(
                f"there is no site {name!r}",
                ["sites"],
                name,
                "one of " + ", ".join(self.sites),
            )
        return self.sites[name]


def read_sites(document: Document) -> SiteCatalog:
    """The typed view of ``document``. Raises CatalogError."""
    entries = document.data.get("sites")
    if not isinstance(entries, list):
        raise document.error("a site catalog needs a list of sites", ["sites"])
    sites: dict[str, Site] = {}
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict) or not entry.get("name"):
            raise document.error("a site needs a name", ["sites", index], entry)
        site = _read_site(document, entry, index)
        if site.name in sites:
            raise document.error(
                "two sites have one name", ["sites", index, "name"], site.name
            )
        sites[site.name] = site
    return SiteCatalog(document, sites)


def _read_site(document: Document, entry: Data, index: int) -> Site:
    at: list[Key] = ["sites", index]
    directories = []
    for place, directory in enumerate(list_under(document, entry, "directories", at)):
        if not isinstance(directory, dict) or not directory.get("path"):
            raise document.error(
                "a directory needs a type and a path",
                [*at, "directories", place],
                directory,
            )
        urls = _read_urls(document, directory, [*at, "directories", place])
        kind = str(directory.get("type", ""))
        directories.append(Directory(kind, str(directory["path"]), urls, place))
    profiles = profiles_under(document, entry, at)
    return Site(str(entry["name"]), tuple(directories), profiles, entry, index)


def _read_urls(document: Document, directory: Data, at: list[Key]) -> tuple[str, ...]:
    servers = list_under(document, directory, "fileServers", at)
    for place, server in enumerate(servers):
        if not isinstance(server, dict):
            where = [*at, "fileServers", place]
            raise document.error("a file server has a url", where, server)
    return tuple(str(server.get("url", "")) for server in servers)
