"""Files of site local, named so that pegasus-plan lets the site's jobs read them.

Its replica selectors drop a ``file://`` URL of another site where transfers run on the
compute site, as they do on a buffer. A path they keep: the folder is a shared one. Of
the path of a program it makes such a URL by itself, so a program that is staged from
local is said to be on the site.
"""

from __future__ import annotations

from typing import Any

from pegasus_bb.model.document import Data
from pegasus_bb.paths import local_path

_LOCAL = "local"


def replicas_by_path(data: Data) -> Data:
    """The replica catalog ``data``, the URLs of files of site local as paths."""
    known = data.get("replicas")
    if not known:
        return data
    return {**data, "replicas": [_entry(entry) for entry in known]}


def _entry(entry: Data) -> Data:
    pfns = entry.get("pfns") or ()
    if not any(map(_is_local_url, pfns)):
        return entry
    return {**entry, "pfns": [_by_path(pfn) for pfn in pfns]}


def programs_on_site(data: Data, site: str) -> Data:
    """The transformation catalog ``data``, what is staged from local as if on ``site``.

    A program that has its own entry for ``site`` stays as it is.
    """
    known = data.get("transformations")
    if not known:
        return data
    return {**data, "transformations": [_program(entry, site) for entry in known]}


def _program(entry: Data, site: str) -> Data:
    places = entry.get("sites") or ()
    own = any(place.get("name") == site for place in places)
    if own or not any(map(_is_staged, places)):
        return entry
    moved = [
        {**place, "name": site} if _is_staged(place) else place for place in places
    ]
    return {**entry, "sites": moved}


def _is_staged(place: Any) -> bool:
    """From a folder of site local: every site can fetch a web server's file."""
    pfn = str(place.get("pfn"))
    here = pfn.startswith("file://") or "://" not in pfn
    return place.get("name") == _LOCAL and place.get("type") == "stageable" and here


def _is_local_url(pfn: Any) -> bool:
    here = pfn.get("site", _LOCAL) == _LOCAL
    return here and str(pfn["pfn"]).startswith("file://")


def _by_path(pfn: Data) -> Data:
    return {**pfn, "pfn": local_path(pfn["pfn"])} if _is_local_url(pfn) else pfn
