"""What properties say of sites: a catalog below the user's own
(pegasus.catalog.site.repo.file), and profiles
(pegasus.catalog.site.sites.SITE.profiles.NAMESPACE.KEY)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pegasus_bb.core.files import is_file
from pegasus_bb.model.document import Data, Document, Entry, load

_PROFILE = re.compile(r"pegasus\.catalog\.site\.sites\.(.+?)\.profiles\.([^.]+)\.(.+)")


def with_repository(
    sites: Document, file: Path, variables: Mapping[str, str]
) -> Document:
    """Return the catalog ``sites`` with the sites of ``file``. What ``sites`` says of a
    site wins, each profile by itself.

    Without the file ``sites`` stays as it is: it may be one of Pegasus's own, which
    pegasus-plan finds. Raises CatalogError.
    """
    if not is_file(file):
        return sites
    below = {str(each.data["name"]): each for each in _sites_of(load(file, variables))}
    own = [
        _merged(each, below.pop(str(each.data["name"]), None))
        for each in _sites_of(sites)
    ]
    more = [each.data for each in below.values()]
    return sites.with_data({**sites.data, "sites": [*own, *more]})


def missing_repository(cwd: Path, name: str) -> tuple[str, ...]:
    """Return a note if the repository ``name`` is not there; else nothing."""
    if is_file(cwd / name):
        return ()
    return (f"site repository: there is no {cwd / name}; its sites are left out",)


def _sites_of(document: Document) -> list[Entry]:
    return document.entry().entries("sites", "a site", "name")


def _merged(own: Entry, below: Entry | None) -> Data:
    """The keys of a site, ``own`` before those ``below``. Raises CatalogError."""
    if below is None:
        return dict(own.data)
    mine = own.profiles()
    theirs = below.profiles()
    profiles = {
        space: {**theirs.get(space, {}), **mine.get(space, {})}
        for space in {**theirs, **mine}
    }
    both = {**below.data, **own.data}
    return {**both, "profiles": profiles} if profiles else both


def with_site_properties(sites: Document, properties: Mapping[str, str]) -> Document:
    """Return the catalog ``sites`` with these profiles. They win over its own; those of
    a site that it does not have are for another catalog."""
    profiles: dict[str, dict[str, Data]] = {}
    for key, value in properties.items():
        match = _PROFILE.fullmatch(key)
        if match is not None:
            of_site = profiles.setdefault(match[1], {})
            of_site.setdefault(match[2], {})[match[3]] = value
    known = sites.data.get("sites")
    if not profiles or not isinstance(known, list):
        return sites
    changed = [_with_profiles(site, profiles) for site in known]
    return sites.with_data({**sites.data, "sites": changed})


def _with_profiles(site: Any, profiles: Mapping[str, Mapping[str, Data]]) -> Any:
    added = profiles.get(str(site.get("name"))) if isinstance(site, dict) else None
    own = (site.get("profiles") or {}) if added else {}
    if not added or not isinstance(own, dict):
        return site
    both = {space: {**(own.get(space) or {}), **keys} for space, keys in added.items()}
    return {**site, "profiles": {**own, **both}}
