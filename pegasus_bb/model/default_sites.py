"""The sites that Pegasus makes if the site catalog lacks them."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from pegasus_bb.model.document import Data, Document

LOCAL = "local"
CONDORPOOL = "condorpool"
STORAGE = ("localStorage", "sharedStorage", "local-storage", "shared-storage")


def with_default_sites(
    document: Document, folder: Path, named: Collection[str] = ()
) -> Document:
    """Return the site catalog ``document`` as Pegasus completes it.

    A missing site local has folders in ``folder``; one without storage gets it. Site
    condorpool is added if the user has ``named`` it, or if no other site could run
    tasks.
    """
    sites = document.data.get("sites")
    if not isinstance(sites, list) or not all(isinstance(s, dict) for s in sites):
        return document  # its reader says what is wrong
    completed = [
        _with_storage(site, folder) if site.get("name") == LOCAL else site
        for site in sites
    ]
    names = {site.get("name") for site in sites}
    if LOCAL not in names:
        completed.append(_local(folder))
    if CONDORPOOL not in names and (CONDORPOOL in named or not names - {LOCAL}):
        profiles = {"pegasus": {"style": "condor"}}
        completed.append({"name": CONDORPOOL, "profiles": profiles})
    return document.with_data({**document.data, "sites": completed})


def _local(folder: Path) -> Data:
    scratch = directory_entry("sharedScratch", folder / "wf-scratch" / "LOCAL")
    return {"name": LOCAL, "directories": [scratch, _storage(folder)]}


def _with_storage(site: Data, folder: Path) -> Data:
    known = site.get("directories") or []
    if not isinstance(known, list) or any(_is_storage(each) for each in known):
        return site
    return {**site, "directories": [*known, _storage(folder)]}


def _is_storage(directory: Any) -> bool:
    kind = directory.get("type") if isinstance(directory, dict) else None
    return kind in STORAGE


def _storage(folder: Path) -> Data:
    return directory_entry("localStorage", folder / "wf-output")


def directory_entry(kind: str, path: str | Path) -> Data:
    """A directory of a site, as the site catalog has it."""
    server = {"url": f"file://{path}", "operation": "all"}
    return {"type": kind, "path": str(path), "fileServers": [server]}
