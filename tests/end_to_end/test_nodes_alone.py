"""A pool whose nodes have a disk each, and see nothing of the submit host."""

from __future__ import annotations

import pytest

from tests.support.unseen_folder import python_of_nodes, what_is_missing
from tests.support.user_site import Site

TRANSIENT = ("--bb-mode", "transient")


@pytest.fixture
def pool(site: Site) -> Site:
    if why := what_is_missing():
        pytest.skip(why)
    site.has_disks(mount="any", submit_dir="local")
    return site


def on_nodes(pool: Site) -> tuple[str, ...]:
    return (*TRANSIENT, "--bb-python", str(python_of_nodes(pool.root)))


@pytest.mark.parametrize("chains", ["off", "on"])
def test_files_come_and_go_with_each_job(pool: Site, chains: str) -> None:
    pool.planned("bb", *on_nodes(pool), "--bb-chains", chains)
    pool.finishes("bb")
    assert not list((pool.root / "nvme").iterdir())
