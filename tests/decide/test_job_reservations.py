"""Mode transient: what each job has on a reservation of its own."""

from __future__ import annotations

from typing import Any

import pytest

from pegasus_bb.core.units import MIB
from pegasus_bb.model.placement import JobReservation
from pegasus_bb.planner.plan_summary import summary
from tests.decide.test_hybrid import checkpoint, inner
from tests.support.user_files import User, job, said, sized, use


@pytest.fixture
def per_job(user: User) -> User:
    user.defines = ["pegasus.bb.mode=transient"]
    return user


def reservations(user: User) -> dict[str, JobReservation]:
    return user.decide().job_reservations


@pytest.mark.parametrize(
    ("count", "said"), [(1, "for one job ("), (2, "for each of 2 jobs (")]
)
def test_the_capacity_of_a_job_says_for_how_many(
    per_job: User, count: int, said: str
) -> None:
    per_job.jobs = [
        job(f"ID{n}", use(f"{n}", "output", **sized(1))) for n in range(count)
    ]
    decision = per_job.decision()
    (line,) = (x for x in summary(per_job.given(), decision) if "capacity:" in x)
    assert f"capacity: 4.0 MiB {said}" in line


def test_a_job_has_what_it_reads_and_what_it_makes(per_job: User) -> None:
    found = reservations(per_job)
    assert list(found) == ["ID1", "ID2"]
    assert found["ID1"].stage_in == ("in.txt",)
    assert found["ID1"].stage_out == ("mid.txt", "keep.txt")
    assert found["ID2"].stage_in == ("mid.txt", "keep.txt", "ref.txt")
    assert found["ID2"].stage_out == ("out.txt",)


def test_files_on_the_pfs_are_links_there_and_need_no_space(per_job: User) -> None:
    per_job.jobs[1]["uses"][2].update(said("pfs", 200))
    per_job.jobs[1]["uses"][3].update(said("pfs", 30))
    own = reservations(per_job)["ID2"]
    assert (own.read, own.write) == (("ref.txt",), ("out.txt",))
    assert own.need == 30
    assert own.stage_out == ()


def test_a_job_without_a_file_on_the_tier_has_no_job_reservation(
    per_job: User,
) -> None:
    per_job.tier = {"inputs": "pfs", "outputs": "pfs"}
    per_job.jobs[1]["uses"] = per_job.jobs[1]["uses"][1:]  # without mid.txt
    assert list(reservations(per_job)) == ["ID1"]


def test_staged_programs_come_to_every_job_that_runs_them(per_job: User) -> None:
    place = {"name": "local", "pfn": "/bin/true", "type": "stageable"}
    per_job.transformations = [{"name": "work", "sites": [place]}]
    assert all("work" in own.stage_in for own in reservations(per_job).values())


def test_unknown_sizes_are_asked_for_by_name(per_job: User) -> None:
    del per_job.jobs[0]["uses"][1]["metadata"]
    per_job.is_refused(r"not known for 1: mid\.txt")


def test_a_given_capacity_is_each_job_s(per_job: User) -> None:
    del per_job.jobs[0]["uses"][1]["metadata"]
    per_job.defines.append("pegasus.bb.capacity=9MiB")
    assert {own.capacity for own in reservations(per_job).values()} == {12 * MIB}


def test_a_given_capacity_that_is_too_small_names_the_job(per_job: User) -> None:
    per_job.jobs = [job("big", use("b", "output", **sized("18MiB")))]
    per_job.defines.append("pegasus.bb.capacity=9MiB")
    caught = per_job.is_refused(r"job big .* have 18.0 MiB")
    assert caught.key == "jobs.0"
    assert caught.line


def private_folder(user: User) -> None:
    user.tier = {"backend": "directory", "path": "/fast", "access": "private"}


def odd_name(user: User) -> None:
    user.jobs[0]["uses"][0]["lfn"] = "in;put.txt"


def folder(user: User) -> None:
    (user.folder / "in.d").mkdir()
    user.jobs[0]["uses"][0] = use("in.d", "input")
    user.replicas["in.d"] = [{"site": "local", "pfn": str(user.folder / "in.d")}]
    user.defines.append("pegasus.bb.capacity=1GiB")


def pinned_checkpoint(user: User) -> None:
    checkpoint(user)
    user.jobs[0]["uses"][-1]["metadata"]["bb.tier"] = "bb"


def test_a_checkpoint_goes_to_the_pfs(per_job: User) -> None:
    """The next try of its job finds it there."""
    checkpoint(per_job)
    placed = per_job.placed("state")
    assert (placed.tier, placed.how) == ("pfs", "write")
    assert "the next try" in placed.reason


def test_a_checkpoint_may_live_where_our_launcher_fills_and_empties(
    per_job: User,
) -> None:
    """It has room there, and is no result."""
    pinned_checkpoint(per_job)
    per_job.tier = {"backend": "directory", "path": "/fast"}
    own = next(iter(reservations(per_job).values()))
    assert own.checkpoints == ("state",)
    assert "state" not in (*own.stage_out, *own.write, *own.read, *own.stage_in)
    assert own.need == 100 + 10 + 20 + 1


@pytest.mark.parametrize(
    ("spoil", "key", "words"),
    [
        (private_folder, "x-storage-tiers.cluster.0.access", "all nodes see"),
        (odd_name, "jobs.0.uses.0.lfn", "#DW stage_in line cannot carry"),
        (inner, "jobs.2.type", "reservations of their own"),
        (pinned_checkpoint, "jobs.0.uses.3.type", "is gone with the job"),
        (folder, "jobs.0.uses.0.lfn", "in.d is a folder"),
    ],
)
def test_what_staging_cannot_do_is_refused_in_its_place(
    per_job: User, spoil: Any, key: str, words: str
) -> None:
    spoil(per_job)
    caught = per_job.is_refused(words)
    assert caught.key == key


DISK = {"backend": "node-local", "path": "/nvme", "granularity": "1KiB"}


@pytest.fixture
def on_disks(per_job: User) -> User:
    per_job.tier = DISK
    return per_job


@pytest.mark.parametrize("backend", ["node-local", "directory"])
def test_a_job_that_needs_more_than_the_quota_is_named(
    on_disks: User, backend: str
) -> None:
    on_disks.tier = {**DISK, "backend": backend, "quota": "2KiB"}
    on_disks.jobs[1]["uses"][3]["metadata"]["size"] = 2000
    caught = on_disks.is_refused(r"job ID2 .* needs 3.0 KiB")
    assert caught.key == "jobs.1"


def of_its_own(user: User, profile: dict[str, str]) -> None:
    user.jobs[1]["profiles"] = {"pegasus": profile}


def of_its_program(user: User, profile: dict[str, str]) -> None:
    place = {"name": "cluster", "pfn": "/bin/x", "type": "installed"}
    place["profiles"] = {"pegasus": profile}  # type: ignore[assignment]
    user.transformations = [{"name": "work", "sites": [place]}]


def of_the_properties(user: User, profile: dict[str, str]) -> None:
    user.defines += [f"pegasus.{key}={value}" for key, value in profile.items()]


WHERE = [of_its_own, of_its_program, of_the_properties]
SEVERAL = [
    {"nodes": "4"},
    {"glite.arguments": "--mem 4G -N 2"},
    {"glite.arguments": "--nodes=2-4 -t 10"},
    {"glite.arguments": "--nodes 16"},
]


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("profile", SEVERAL, ids=str)
def test_a_job_of_several_nodes_would_not_see_its_files(
    on_disks: User, where: Any, profile: dict[str, str]
) -> None:
    where(on_disks, profile)
    caught = on_disks.is_refused("asks for several")
    assert caught.key in ("jobs.0", "jobs.1")
    assert caught.found == "pegasus.{}: {}".format(*next(iter(profile.items())))
