"""A site that no catalog declares is the one that Pegasus makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pegasus_bb.model.catalogs import SiteCatalog, read_sites
from pegasus_bb.model.default_sites import with_default_sites
from pegasus_bb.model.document import Document

CWD = Path("/home/me/runs")
SCRATCH = {"type": "sharedScratch", "path": "/scratch"}


def complete(*sites: dict[str, Any], named: tuple[str, ...] = ()) -> SiteCatalog:
    document = Document(CWD / "sites.yml", {"sites": list(sites), "x-mine": 1})
    return read_sites(with_default_sites(document, CWD, named))


def folders(site: Any) -> tuple[str, str]:
    return site.scratch.path, site.storage.path


def test_without_any_site_there_are_local_and_condorpool() -> None:
    found = complete()
    assert list(found.sites) == ["local", "condorpool"]
    below = "/home/me/runs/wf-scratch/LOCAL", "/home/me/runs/wf-output"
    assert folders(found.sites["local"]) == below
    assert found.sites["condorpool"].profile("pegasus", "style") == "condor"
    assert found.document.data["x-mine"] == 1


def test_condorpool_is_there_if_it_is_named_or_nothing_else_runs_tasks() -> None:
    cluster = {"name": "cluster"}
    assert list(complete(cluster).sites) == ["cluster", "local"]
    assert "condorpool" in complete({"name": "local"}).sites
    assert "condorpool" in complete(cluster, named=("condorpool",)).sites


def test_a_site_local_without_storage_gets_the_folder_of_pegasus() -> None:
    found = complete({"name": "local", "directories": [SCRATCH]})
    assert folders(found.sites["local"]) == ("/scratch", "/home/me/runs/wf-output")
    bare = complete({"name": "local"}).sites["local"]
    assert bare.scratch is None
    assert bare.storage is not None
