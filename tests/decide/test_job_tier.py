"""Mode hybrid: what jobs share on one tier of the site, job reservations on another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pegasus_bb.core.units import MIB
from pegasus_bb.decide.place_files import place_files
from pegasus_bb.model.history import History
from pegasus_bb.model.placement import PFS
from pegasus_bb.model.settings import property_of
from tests.decide.test_hybrid import chain, inner, results_stay
from tests.support.user_files import User

NVME = {"name": "nvme", "backend": "node-local", "path": "/nvme"}
OTHER = {"name": "other", "backend": "datawarp", "pool": "slow"}


@pytest.fixture
def hybrid(user: User) -> User:
    user.defines = ["pegasus.bb.mode=hybrid"]
    user.jobs = chain()
    user.other_tiers = [OTHER, NVME]
    return user


def says(user: User, **settings: str) -> None:
    user.defines += [f"{property_of(key)}={value}" for key, value in settings.items()]


def test_a_disk_of_the_nodes_is_where_job_reservations_are(hybrid: User) -> None:
    placement = hybrid.decide()
    assert placement.tier.name == "bb"
    assert placement.job_tier.name == "nvme"
    assert placement.job_reservations["first"].stage_out == ("own.txt",)
    assert placement.job_reservations["first"].share == ("mid.txt",)
    file = placement.files["own.txt"]
    assert file.tier == PFS
    assert "of that job's own on tier nvme, then on the PFS" in file.reason


def test_without_one_they_are_on_the_shared_tier_or_on_the_one_that_is_named(
    hybrid: User,
) -> None:
    hybrid.other_tiers = [OTHER]
    assert hybrid.decide().other_tier is None
    says(hybrid, job_tier="other")
    assert hybrid.decide().job_tier.name == "other"
    hybrid.defines[-1] = "pegasus.bb.job.tier=bb"
    assert hybrid.decide().other_tier is None


@pytest.mark.parametrize("temp", [True, False])
def test_temporary_files_of_an_earlier_run_have_room(hybrid: User, temp: bool) -> None:
    hybrid.other_tiers = [{**NVME, "temp": temp}]
    given = hybrid.given()
    (tier, _) = given.catalogs.tiers["cluster"]
    seen = replace(given, history=History(temporary={"first": 64 * MIB}))
    before, after = (
        place_files(each, tier).placement.job_reservations["first"].need
        for each in (given, seen)
    )
    assert after - before == (64 * MIB if temp else 0)


def test_a_tier_that_is_not_there_is_refused(hybrid: User) -> None:
    says(hybrid, job_tier="nvm")
    caught = hybrid.is_refused("no such tier")
    assert caught.would_do == "one of bb, other, nvme"


def test_a_job_reservation_that_costs_nothing_is_had_for_a_granule(
    hybrid: User,
) -> None:
    """On the shared tier it would cost more than it saves."""
    hybrid.jobs = chain(own=5 * MIB, shared=40 * MIB)
    assert list(hybrid.decide().job_reservations) == ["first"]
    hybrid.other_tiers = []
    assert hybrid.decide().job_reservations == {}


def several_nodes(user: User) -> None:
    user.jobs[0]["profiles"] = {"pegasus": {"nodes": 2}}


def small_disk(user: User) -> None:
    user.other_tiers = [{**NVME, "quota": "64MiB"}]


@pytest.mark.parametrize("spoil", [several_nodes, small_disk])
def test_a_job_that_such_a_disk_cannot_serve_has_no_job_reservation(
    hybrid: User, spoil: Any
) -> None:
    spoil(hybrid)
    placement = hybrid.decide()
    assert "first" not in placement.job_reservations
    assert placement.files["own.txt"].tier == "bb"


def of_its_metadata(user: User) -> None:
    user.jobs[0]["uses"][2]["metadata"]["bb.tier"] = "nvme"


def of_a_placement_file(user: User) -> None:
    user.placement = "own.txt: nvme\n"


@pytest.mark.parametrize("name", [of_its_metadata, of_a_placement_file])
def test_a_file_that_the_user_wants_there_has_a_job_reservation_whatever_it_saves(
    hybrid: User, name: Any
) -> None:
    hybrid.jobs = chain(own=1)
    name(hybrid)
    placement = hybrid.decide()
    assert list(placement.job_reservations) == ["first"]
    file = placement.files["own.txt"]
    assert (file.tier, file.how) == (PFS, "write")
    assert "nvme: on a reservation of that job's own on tier nvme" in file.reason
    says(hybrid, capacity="1GiB")  # of the shared reservation
    assert list(hybrid.decide().job_reservations) == ["first"]


def shared(user: User) -> None:
    user.jobs[0]["uses"][1]["metadata"]["bb.tier"] = "nvme"


def an_input(user: User) -> None:
    user.jobs[2]["uses"][2]["metadata"]["bb.tier"] = "nvme"


def shared_by_profile(user: User) -> None:
    user.jobs[0]["profiles"] = {"pegasus": {"bb.tier": "nvme"}}


def shared_by_pattern(user: User) -> None:
    user.placement = "mid.*: nvme\n"


@pytest.mark.parametrize(
    ("name", "key", "why"),
    [
        (shared, "jobs.0.uses.1.metadata.bb.tier", "mid.*: jobs second, third read it"),
        (an_input, "jobs.2.uses.2.metadata.bb.tier", "ref.*: no job makes it"),
        (shared_by_profile, "jobs.0.profiles.pegasus.bb.tier", "mid.txt cannot live"),
        (shared_by_pattern, "mid.*", "mid.txt cannot live on tier nvme"),
    ],
)
def test_what_cannot_live_there_is_refused_in_its_place(
    hybrid: User, name: Any, key: str, why: str
) -> None:
    name(hybrid)
    caught = hybrid.is_refused(why)
    assert caught.key == key
    assert caught.line
    assert caught.would_do


def no_size(user: User) -> None:
    del user.jobs[0]["uses"][2]["metadata"]["size"]


@pytest.mark.parametrize(
    "spoil", [several_nodes, small_disk, no_size, inner, results_stay]
)
def test_a_job_that_cannot_have_the_job_reservation_is_named(
    hybrid: User, spoil: Any
) -> None:
    of_its_metadata(hybrid)
    spoil(hybrid)
    words = r"job first .* cannot have a reservation"
    caught = hybrid.is_refused(words)
    assert caught.key == "jobs.0.uses.2"
