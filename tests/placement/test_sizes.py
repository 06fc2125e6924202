"""Declared, else in the replica catalog, else on disk; never zero for unknown."""

from __future__ import annotations

from typing import Any

import pytest

from tests.placement.user_files import User, job, sized, use


def reads(user: User, **more: Any) -> None:
    """One job that reads data.bin, of which nobody declares a size."""
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


def test_of_two_declared_sizes_the_larger_counts(user: User) -> None:
    user.jobs[1]["uses"][0] = use("mid.txt", "input", **sized(11))
    assert user.placed("mid.txt").size == 11


def test_a_replica_on_this_disk_is_measured(user: User) -> None:
    reads(user, **sized(1))
    (user.folder / "data.bin").write_bytes(b"x" * 33)
    user.replicas = {
        "data.bin": [
            {"site": "far", "pfn": "http://far/data.bin"},
            {"site": "local", "pfn": f"file://{user.folder}/data.bin"},
        ]
    }
    assert user.placed("data.bin").size == 33


def test_an_empty_file_has_size_zero_and_is_known(user: User) -> None:
    reads(user, **sized(1))
    (user.folder / "data.bin").touch()
    user.replicas = {
        "data.bin": [{"site": "cluster", "pfn": f"{user.folder}/data.bin"}]
    }
    placement = user.decide()
    assert placement.files["data.bin"].size == 0
    assert placement.unknown == ()


def test_a_path_of_another_site_is_not_taken_for_a_path_here(user: User) -> None:
    reads(user, **sized(1))
    (user.folder / "data.bin").write_bytes(b"x")
    user.replicas = {"data.bin": [{"site": "far", "pfn": f"{user.folder}/data.bin"}]}
    assert user.placed("data.bin").size is None


def test_what_nobody_knows_is_reported_not_zero(user: User) -> None:
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
