"""Every ready catalog is one that planning takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.model.document import load
from pegasus_bb.model.sites import read_sites
from pegasus_bb.model.tiers import read_tiers

CATALOGS = sorted((Path(__file__).parents[1] / "site-catalogs").glob("*.yml"))
HERE = {
    "SCRATCH": "/lus/scratch",
    "FAST": "/fast",
    "RESULTS": "/home/me/results",
    "QUEUE": "debug",
    "PEGASUS_HOME": "/opt/pegasus",
}


@pytest.mark.parametrize("catalog", CATALOGS, ids=lambda path: path.name)
def test_it_declares_a_tier_for_a_site_with_scratch(catalog: Path) -> None:
    document = load(catalog, HERE)
    sites = read_sites(document)
    tiers = read_tiers(document, sites.sites)
    assert tiers
    for site in tiers:
        assert sites.site(site).scratch is not None


def test_the_readme_names_each() -> None:
    readme = (CATALOGS[0].parent / "README.md").read_text()
    assert [c.name for c in CATALOGS if f"`{c.name}`" not in readme] == []
