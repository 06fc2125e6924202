"""What jobs and files say themselves: the narrower wins."""

from __future__ import annotations

from typing import Any

import pytest

from pegasus_bb.errors import CatalogError
from tests.placement.world import World, job, said, sized, use


def profile(word: str) -> dict[str, Any]:
    return {"pegasus": {"bb.tier": word}}


def test_a_job_s_profile_is_about_what_it_writes(world: World) -> None:
    world.jobs[0]["profiles"] = profile("pfs")
    homes = world.homes()
    assert homes["mid.txt"] == homes["keep.txt"] == ("pfs", "write")
    assert homes["out.txt"] == ("bb", "write")
    assert "ID1, which writes it" in world.placed("mid.txt").reason


def test_an_input_moves_where_its_only_reader_says_so(world: World) -> None:
    world.jobs[0]["profiles"] = profile("pfs")
    assert world.homes()["in.txt"] == ("pfs", "copy")
    assert world.homes()["ref.txt"] == ("bb", "copy")
    assert "every job that reads it" in world.placed("in.txt").reason


def test_an_input_stays_where_its_readers_do_not_all_agree(world: World) -> None:
    world.jobs[1]["uses"].append(use("in.txt", "input"))
    world.jobs[0]["profiles"] = profile("pfs")
    assert world.homes()["in.txt"] == ("bb", "copy")
    world.jobs[1]["profiles"] = profile("bb")
    assert world.homes()["in.txt"] == ("bb", "copy")
    world.jobs[1]["profiles"] = profile("pfs")
    assert world.homes()["in.txt"] == ("pfs", "copy")


def test_the_metadata_of_a_file_wins_over_the_profile_of_its_job(world: World) -> None:
    world.jobs[0]["profiles"] = profile("pfs")
    world.jobs[0]["uses"][1]["metadata"]["bb.tier"] = "bb"
    placed = world.placed("mid.txt")
    assert (placed.tier, placed.how) == ("bb", "write")
    assert placed.reason == "its metadata in job ID1 says bb.tier: bb"


def test_any_use_of_a_file_may_say_its_tier(world: World) -> None:
    world.jobs[1]["uses"][0] = use("mid.txt", "input", **said("pfs"))
    assert world.homes()["mid.txt"] == ("pfs", "write")


def test_an_input_may_be_a_link_on_its_own(world: World) -> None:
    world.jobs[0]["uses"][0] = use("in.txt", "input", **said("link"))
    world.replicas = {"in.txt": [{"site": "cluster", "pfn": "file:///lus/in.txt"}]}
    assert world.homes()["in.txt"] == ("pfs", "link")


def test_bb_means_the_tier_whatever_it_is_called(world: World) -> None:
    world.tier = {"name": "fast", "intermediate": "pfs"}
    world.jobs[0]["uses"][1]["metadata"]["bb.tier"] = "bb"
    assert world.homes()["mid.txt"] == ("fast", "write")
    world.jobs[0]["uses"][1]["metadata"]["bb.tier"] = "fast"
    assert world.homes()["mid.txt"] == ("fast", "write")


def test_bb_means_the_tier_of_that_name_where_there_is_one(world: World) -> None:
    world.tier = {"name": "fast"}
    world.other_tiers = [{"name": "bb", "backend": "datawarp"}]
    world.jobs[0]["uses"][1]["metadata"]["bb.tier"] = "bb"
    with pytest.raises(CatalogError, match="reserves tier fast of site cluster"):
        world.decide()


def test_two_uses_that_contradict_each_other_are_refused(world: World) -> None:
    world.jobs[0]["uses"][1]["metadata"]["bb.tier"] = "bb"
    world.jobs[1]["uses"][0] = use("mid.txt", "input", **said("pfs"))
    with pytest.raises(CatalogError, match=r"ID1 says bb.tier: bb") as error:
        world.decide()
    assert error.value.key == "jobs.1.uses.0.metadata.bb.tier"
    assert error.value.line > 20


def test_an_unknown_tier_in_metadata_is_refused_with_its_line(world: World) -> None:
    world.jobs[0]["uses"][1]["metadata"]["bb.tier"] = "ssd"
    with pytest.raises(CatalogError, match="no such tier") as error:
        world.decide()
    text = (world.folder / "workflow.yml").read_text().splitlines()
    assert text[error.value.line - 1].strip() == "bb.tier: ssd"
    assert error.value.found == "ssd"
    assert error.value.would_do == "one of bb, pfs"


def test_a_made_file_cannot_be_a_link(world: World) -> None:
    world.jobs[0]["uses"][1]["metadata"]["bb.tier"] = "link"
    with pytest.raises(
        CatalogError, match=r"mid.txt is made by job ID1; only an input"
    ):
        world.decide()


def test_a_job_cannot_say_link(world: World) -> None:
    world.jobs[0]["profiles"] = profile("link")
    with pytest.raises(CatalogError, match="what it writes") as error:
        world.decide()
    assert error.value.key == "jobs.0.profiles.pegasus.bb.tier"


def test_an_unknown_tier_in_a_profile_is_refused_with_its_line(world: World) -> None:
    world.jobs.append(job("ID3", use("x", "output", **sized(1))))
    world.jobs[2]["profiles"] = profile("sdd")
    with pytest.raises(CatalogError, match="no such tier") as error:
        world.decide()
    text = (world.folder / "workflow.yml").read_text().splitlines()
    assert "sdd" in text[error.value.line - 1]
