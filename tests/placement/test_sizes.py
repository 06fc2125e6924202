"""Declared, else in the replica catalog, else on disk; never zero for unknown."""

from __future__ import annotations

from typing import Any

from tests.placement.world import World, job, sized, use


def reads(world: World, **more: Any) -> None:
    """One job that reads data.bin, of which nobody declares a size."""
    world.jobs = [job("ID1", use("data.bin", "input"), use("out", "output", **more))]
    world.tier = {"capacity": "1GiB"}


def test_a_declared_size_wins(world: World) -> None:
    reads(world, **sized(1))
    world.jobs[0]["uses"][0] = use("data.bin", "input", **sized("2KiB"))
    world.replicas = {"data.bin": [{"site": "local", "pfn": "/nowhere"}]}
    world.replica_metadata = {"data.bin": {"size": 7}}
    assert world.placed("data.bin").size == 2048


def test_of_two_declared_sizes_the_larger_counts(world: World) -> None:
    world.jobs[1]["uses"][0] = use("mid.txt", "input", **sized(11))
    assert world.placed("mid.txt").size == 11


def test_the_replica_catalog_comes_next(world: World) -> None:
    reads(world, **sized(1))
    world.replicas = {"data.bin": [{"site": "far", "pfn": "http://far/data.bin"}]}
    world.replica_metadata = {"data.bin": {"size": 7}}
    assert world.placed("data.bin").size == 7


def test_a_replica_on_this_disk_is_measured(world: World) -> None:
    reads(world, **sized(1))
    (world.folder / "data.bin").write_bytes(b"x" * 33)
    world.replicas = {
        "data.bin": [
            {"site": "far", "pfn": "http://far/data.bin"},
            {"site": "local", "pfn": f"file://{world.folder}/data.bin"},
        ]
    }
    assert world.placed("data.bin").size == 33


def test_an_empty_file_has_size_zero_and_is_known(world: World) -> None:
    reads(world, **sized(1))
    (world.folder / "data.bin").touch()
    world.replicas = {
        "data.bin": [{"site": "cluster", "pfn": f"{world.folder}/data.bin"}]
    }
    placement = world.decide()
    assert placement.files["data.bin"].size == 0
    assert placement.unknown == ()


def test_a_path_of_another_site_is_not_taken_for_a_path_here(world: World) -> None:
    reads(world, **sized(1))
    (world.folder / "data.bin").write_bytes(b"x")
    world.replicas = {"data.bin": [{"site": "far", "pfn": f"{world.folder}/data.bin"}]}
    assert world.placed("data.bin").size is None


def test_what_nobody_knows_is_reported_not_zero(world: World) -> None:
    reads(world)
    world.replicas = {
        "data.bin": [
            {"site": "local", "pfn": "/no/such/file"},
            {"site": "local", "pfn": str(world.folder)},
            {"site": "local", "pfn": "relative/path"},
        ]
    }
    placement = world.decide()
    assert placement.files["data.bin"].size is None
    assert placement.unknown == ("data.bin", "out")
    assert placement.need == 0
