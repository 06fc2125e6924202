"""What a scheduler would misread, and what could not work, is refused at planning."""

from __future__ import annotations

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.decide.place_files import decide
from tests.support.user_files import User, job, sized, use

DISK = {"backend": "node-local", "path": "/nvme"}


@pytest.mark.parametrize(
    ("tier", "mode", "key", "what"),
    [
        ({"access": "private"}, "persistent", "access", "only its own files"),
        (DISK, "persistent", "backend", "the disk of a node"),
        (DISK, "hybrid", "backend", "the disk of a node"),
    ],
)
def test_what_jobs_cannot_share_is_refused(
    user: User, tier: dict[str, str], mode: str, key: str, what: str
) -> None:
    user.tier, user.defines = tier, [f"pegasus.bb.mode={mode}"]
    error = user.is_refused(what)
    assert error.key == f"x-storage-tiers.cluster.0.{key}"
    assert "--bb-mode transient" in error.would_do


def test_the_submit_host_cannot_have_the_buffer(user: User) -> None:
    user.site = "local"
    user.is_refused("submit host")


@pytest.mark.parametrize("pool", ["a b", "p%j", "-x", "a\tb", "x\\"])
def test_a_pool_that_would_be_misread_is_refused(user: User, pool: str) -> None:
    user.tier = {"pool": pool}
    error = user.is_refused("misread")
    assert error.key.endswith(".pool")


@pytest.mark.parametrize(
    "lfn", ["a b", "it's", 'say"x"', "50%", "a\\b", "$HOME", "a#1"]
)
def test_names_that_need_quoting_are_refused(user: User, lfn: str) -> None:
    user.jobs = [job("ID1", use(lfn, "output", **sized(1)))]
    error = user.is_refused("cannot be carried")
    assert error.key == "jobs.0.uses.0.lfn"


@pytest.mark.parametrize("lfn", [".pegasus_bb_landing/a", ".jobs", ".jobs/a"])
def test_names_that_the_run_gives_its_own_files_are_refused(
    user: User, lfn: str
) -> None:
    user.jobs = [job("ID1", use(lfn, "output", **sized(1)))]
    error = user.is_refused("names that begin with .pegasus_bb or .jobs/ are ours")
    assert error.key == "jobs.0.uses.0.lfn"


def test_a_file_cannot_be_a_folder_of_another(user: User) -> None:
    user.jobs = [
        job("ID1", use("a/b", "output", **sized(1))),
        job("ID2", use("a/b/c", "output", **sized(1))),
    ]
    error = user.is_refused("a/b would have to be a folder")
    assert error.key == "jobs.1.uses.0.lfn"
    off = "pegasus.bb.mode=off"
    user.defines = [off, "pegasus.data.configuration=condorio"]
    with pytest.raises(CatalogError, match="a/b would have to be a folder"):
        decide(user.given())
    user.defines = [off, "pegasus.data.configuration=sharedfs"]
    assert decide(user.given()) is None


@pytest.mark.parametrize(
    "replica",
    [
        {"site": "cluster", "pfn": "http://host/in.txt"},
        {"site": "local", "pfn": "/home/me/in.txt"},
        {"site": "far", "pfn": "file:///data/in.txt"},
    ],
)
def test_a_link_needs_a_replica_with_a_path_on_the_site(
    user: User, replica: dict[str, str]
) -> None:
    user.placement = "in.txt: link\n"
    user.replicas = {"ref.txt": [replica], "in.txt": [replica]}
    error = user.is_refused("no replica with a path on site")
    assert error.key == "replicas.1"
    assert replica["pfn"] in error.found
    assert "site: cluster" in error.would_do
