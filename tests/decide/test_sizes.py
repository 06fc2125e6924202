"""Declared, else in the replica catalog, else on disk; never zero for unknown."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.user_files import User, job, sized, use


def reads(user: User, **more: Any) -> None:
    """One job that reads data.bin, without a declared size."""
    user.jobs = [job("ID1", use("data.bin", "input"), use("out", "output", **more))]
    user.tier = {"capacity": "1GiB"}


@pytest.mark.parametrize(("declared", "size"), [(sized("2KiB"), 2048), ({}, 7)])
def test_a_declared_size_wins_over_the_replica_catalog(
    user: User, declared: dict[str, Any], size: int
) -> None:
    reads(user, **sized(1))
    user.jobs[0]["uses"][0] = use("data.bin", "input", **declared)
    user.replicas = {"data.bin": [{"site": "far", "pfn": "http://far/data.bin"}]}
    user.replica_metadata = {"data.bin": {"size": 7}}
    assert user.placed("data.bin").size == size


@pytest.mark.parametrize(
    ("site", "scheme", "written", "size"),
    [("local", "file://", 33, 33), ("cluster", "", 0, 0), ("far", "", 1, None)],
)
def test_a_replica_on_this_disk_is_measured(
    user: User, site: str, scheme: str, written: int, size: int | None
) -> None:
    reads(user, **sized(1))
    (user.folder / "data.bin").write_bytes(b"x" * written)
    user.replicas = {
        "data.bin": [
            {"site": "far", "pfn": "http://far/data.bin"},
            {"site": site, "pfn": f"{scheme}{user.folder}/data.bin"},
        ]
    }
    placement = user.decide()
    assert placement.files["data.bin"].size == size
    assert placement.unknown == (("data.bin",) if size is None else ())


def test_an_unknown_size_is_reported_not_zero(user: User) -> None:
    reads(user)
    user.replicas = {
        "data.bin": [
            {"site": "local", "pfn": "/no/such/file"},
            {"site": "local", "pfn": str(user.folder)},
            {"site": "local", "pfn": "relative/path"},
        ]
    }
    placement = user.decide()
    assert placement.files["data.bin"].size is None
    assert placement.unknown == ("data.bin", "out")
    assert placement.need == 0
