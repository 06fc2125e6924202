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
    document: Document, cwd: Path, named: Collection[str] = ()
) -> Document:
    """Return the site catalog ``document`` as Pegasus completes it.

    A missing site local has folders below ``cwd``, where the user plans; one without
    storage gets it. Site condorpool is added if the user has ``named`` it, or if no
    other site could run tasks.
    """
    sites = document.data.get("sites")
    if not isinstance(sites, list) or not all(isinstance(s, dict) for s in sites):
        return document  # its reader says what is wrong
    completed = [_with_storage(s, cwd) if s.get("name") == LOCAL else s for s in sites]
    names = {site.get("name") for site in sites}
    if LOCAL not in names:
        completed.append(_local(cwd))
    if CONDORPOOL not in names and (CONDORPOOL in named or not names - {LOCAL}):
        profiles = {"pegasus": {"style": "condor"}}
        completed.append({"name": CONDORPOOL, "profiles": profiles})
    return document.with_data({**document.data, "sites": completed})


def _local(cwd: Path) -> Data:
    scratch = directory_entry("sharedScratch", cwd / "wf-scratch" / "LOCAL")
    return {"name": LOCAL, "directories": [scratch, _storage(cwd)]}


def _with_storage(site: Data, cwd: Path) -> Data:
    known = site.get("directories") or []
    if not isinstance(known, list) or any(_is_storage(each) for each in known):
        return site
    return {**site, "directories": [*known, _storage(cwd)]}


def _is_storage(directory: Any) -> bool:
    kind = directory.get("type") if isinstance(directory, dict) else None
    return kind in STORAGE


def _storage(cwd: Path) -> Data:
    return directory_entry("localStorage", cwd / "wf-output")


def directory_entry(kind: str, path: str | Path) -> Data:
    """A directory of a site, as the site catalog has it."""
    server = {"url": f"file://{path}", "operation": "all"}
    return {"type": kind, "path": str(path), "fileServers": [server]}
