"""Mode transient: what each job has on a reservation of its own."""

from __future__ import annotations

from typing import Any

import pytest

from pegasus_bb.errors import CatalogError
from pegasus_bb.model.placement import Room
from pegasus_bb.placement import roomlint
from pegasus_bb.units import MIB
from tests.placement.world import World, job, said, sized, use


@pytest.fixture
def per_job(world: World) -> World:
    world.defines = ["pegasus.bb.mode=transient"]
    return world


def rooms(world: World) -> dict[str, Room]:
    return world.decide().rooms


def test_a_job_has_what_it_reads_and_what_it_makes(per_job: World) -> None:
    found = rooms(per_job)
    assert list(found) == ["ID1", "ID2"]
    assert found["ID1"].stage_in == ("in.txt",)
    assert found["ID1"].stage_out == ("mid.txt", "keep.txt")
    assert found["ID2"].stage_in == ("mid.txt", "keep.txt", "ref.txt")
    assert found["ID2"].stage_out == ("out.txt",)


def test_each_reserves_for_its_own_files_alone(per_job: World) -> None:
    per_job.jobs = [
        job("small", use("a", "output", **sized("2MiB"))),
        job("large", use("a", "input"), use("b", "output", **sized("18MiB"))),
    ]
    found = rooms(per_job)
    assert (found["small"].need, found["small"].capacity) == (2 * MIB, 4 * MIB)
    assert (found["large"].need, found["large"].capacity) == (20 * MIB, 24 * MIB)


def test_files_on_the_pfs_are_links_there_and_need_no_room(per_job: World) -> None:
    per_job.jobs[1]["uses"][2].update(said("pfs", 200))
    per_job.jobs[1]["uses"][3].update(said("pfs", 30))
    room = rooms(per_job)["ID2"]
    assert (room.read, room.write) == (("ref.txt",), ("out.txt",))
    assert room.need == 30
    assert room.stage_out == ()


def test_a_job_that_touches_nothing_of_the_tier_has_no_room(per_job: World) -> None:
    per_job.tier = {"inputs": "pfs", "outputs": "pfs"}
    per_job.jobs[1]["uses"] = per_job.jobs[1]["uses"][1:]  # without mid.txt
    assert list(rooms(per_job)) == ["ID1"]


def test_staged_programs_come_to_every_job_that_runs_them(per_job: World) -> None:
    place = {"name": "local", "pfn": "/bin/true", "type": "stageable"}
    per_job.transformations = [{"name": "work", "sites": [place]}]
    assert all("work" in room.stage_in for room in rooms(per_job).values())


def test_a_job_on_the_submit_host_has_none(per_job: World) -> None:
    per_job.jobs[0]["profiles"] = {"selector": {"execution.site": "local"}}
    assert list(rooms(per_job)) == ["ID2"]


def test_unknown_sizes_are_asked_for_by_name(per_job: World) -> None:
    del per_job.jobs[0]["uses"][1]["metadata"]
    with pytest.raises(CatalogError, match=r"not known for 1: mid\.txt"):
        per_job.decide()


def test_a_given_capacity_is_each_job_s(per_job: World) -> None:
    del per_job.jobs[0]["uses"][1]["metadata"]
    per_job.defines.append("pegasus.bb.capacity=9MiB")
    assert {room.capacity for room in rooms(per_job).values()} == {12 * MIB}


def test_a_given_capacity_that_is_too_small_names_the_job(per_job: World) -> None:
    per_job.jobs = [job("big", use("b", "output", **sized("18MiB")))]
    per_job.defines.append("pegasus.bb.capacity=9MiB")
    with pytest.raises(CatalogError, match=r"job big .* have 18.0 MiB") as told:
        per_job.decide()
    assert told.value.key == "jobs.0"
    assert told.value.line


def private(world: World) -> None:
    world.tier = {"access": "private"}


def odd_name(world: World) -> None:
    world.jobs[0]["uses"][0]["lfn"] = "in;put.txt"


def inner(world: World) -> None:
    world.jobs.append(job("sub", type="pegasusWorkflow", file="inner.yml"))


def checkpoint(world: World) -> None:
    world.jobs[0]["uses"].append(use("state", "checkpoint", **sized(1)))


def folder(world: World) -> None:
    (world.folder / "in.d").mkdir()
    world.jobs[0]["uses"][0] = use("in.d", "input")
    world.replicas["in.d"] = [{"site": "local", "pfn": str(world.folder / "in.d")}]
    world.defines.append("pegasus.bb.capacity=1GiB")


@pytest.mark.parametrize(
    ("spoil", "key", "words"),
    [
        (private, "x-storage-tiers.cluster.0.access", "nothing can be staged"),
        (odd_name, "jobs.0.uses.0.lfn", "#DW stage_in line cannot carry"),
        (inner, "jobs.2.type", "reservations of their own"),
        (checkpoint, "jobs.0.uses.3.type", "gone with the job"),
        (folder, "jobs.0.uses.0.lfn", "in.d is a folder"),
    ],
)
def test_what_staging_cannot_do_is_refused_in_its_place(
    per_job: World, spoil: Any, key: str, words: str
) -> None:
    spoil(per_job)
    with pytest.raises(CatalogError, match=words) as told:
        per_job.decide()
    assert told.value.key == key


def test_more_files_than_staging_can_do_in_time(
    per_job: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roomlint, "MOST_FILES", 3)
    with pytest.raises(CatalogError, match="would have 4 files staged") as told:
        per_job.decide()
    assert told.value.key == "jobs.1.uses"


def test_a_directory_stages_whatever_has_a_name(per_job: World) -> None:
    per_job.tier = {"backend": "directory", "path": "/fast"}
    odd_name(per_job)
    assert "in;put.txt" in rooms(per_job)["ID1"].stage_in
