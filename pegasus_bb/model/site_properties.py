"""Properties that are profiles of a site:
pegasus.catalog.site.sites.SITE.profiles.NAMESPACE.KEY."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pegasus_bb.model.document import Data, Document

_PROFILE = re.compile(r"pegasus\.catalog\.site\.sites\.(.+?)\.profiles\.([^.]+)\.(.+)")


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
    changed = [_with(site, profiles) for site in known]
    return sites.with_data({**sites.data, "sites": changed})


def _with(site: Any, profiles: Mapping[str, Mapping[str, Data]]) -> Any:
    added = profiles.get(str(site.get("name"))) if isinstance(site, dict) else None
    own = (site.get("profiles") or {}) if added else {}
    if not added or not isinstance(own, dict):
        return site
    both = {space: {**(own.get(space) or {}), **keys} for space, keys in added.items()}
    return {**site, "profiles": {**own, **both}}
