"""Which inputs come once to a node: those that several readers have."""

from __future__ import annotations

from typing import Any

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.decide.job_reservations import join_job_reservations
from pegasus_bb.decide.shared_inputs import readers
from tests.support.user_files import User, job, sized, use

DISK = {"backend": "node-local", "path": "/nvme"}


@pytest.fixture
def three(user: User) -> User:
    """All read large and small; the first makes mid for the other two."""
    user.defines = ["pegasus.bb.mode=transient"]
    user.tier = {**DISK, "cache": "1GiB"}
    user.replicas = {
        lfn: [{"site": "local", "pfn": f"/{lfn}"}] for lfn in ("large", "small")
    }
    common = [use("large", "input", **sized("3MiB"))]
    common.append(use("small", "input", **sized("64KiB")))
    mid = use("mid", "output", **sized("5MiB"))
    user.jobs = [
        job("first", *common, mid),
        job("second", *common, use("mid", "input"), use("a", "output", **sized(1))),
        job("third", *common, use("mid", "input"), use("b", "output", **sized(1))),
    ]
    return user


def shared(user: User, **clusters: list[str]) -> dict[str, int]:
    """LFN -> how many readers it has."""
    placement = join_job_reservations(user.given(), user.decide(), clusters)
    return dict(readers(placement.job_reservations.values()))


def wants(user: User, number: int, how: str) -> None:
    user.jobs[number]["profiles"] = {"pegasus": {"bb.inputs": how}}


def test_large_inputs_of_several_jobs_also_those_that_a_job_has_made(
    three: User,
) -> None:
    assert shared(three) == {"large": 3, "mid": 2}


def test_without_the_key_there_are_none(three: User) -> None:
    del three.tier["cache"]
    wants(three, 0, "odd, and never asked for")
    assert shared(three) == {}


def test_a_cluster_is_one_reader(three: User) -> None:
    assert shared(three, merged=["second", "third"]) == {"large": 2}
    assert shared(three, merged=["first", "second", "third"]) == {}


def test_a_job_that_wants_copies_is_no_reader_and_nor_is_its_cluster(
    three: User,
) -> None:
    wants(three, 1, "copy")
    assert shared(three) == {"large": 2}
    assert shared(three, merged=["second", "third"]) == {}
    wants(three, 1, "hard links")
    with pytest.raises(CatalogError, match=r"odd profile bb\.inputs") as caught:
        shared(three)
    assert caught.value.key == "jobs.1.profiles.pegasus.bb.inputs"


def test_what_a_cluster_reads_and_makes_is_its_own(three: User) -> None:
    """It is no input of the cluster; of those that read it one is left."""
    assert "mid" not in shared(three, merged=["first", "second"])


def test_a_setting_says_which_files_are_small(three: User) -> None:
    three.defines.append("pegasus.bb.copy.below=4MiB")
    assert shared(three) == {"mid": 2}
    three.defines[-1] = "pegasus.bb.copy.below=1"
    assert shared(three) == {"large": 3, "small": 3, "mid": 2}


def test_in_a_shared_folder_inputs_that_later_jobs_read_are_watched(
    three: User,
) -> None:
    three.defines.append("pegasus.data.configuration=sharedfs")

    def watched() -> dict[str, tuple[str, ...]]:
        own = three.decide().job_reservations
        return {job: each.watched for job, each in own.items() if each.watched}

    assert watched() == {"first": ("large", "small")}
    three.jobs[0]["uses"].append(use("small", "output", **sized("64KiB")))
    assert watched() == {"first": ("large",)}, "its own result is no input"
    wants(three, 0, "copy")
    assert watched() == {}
    three.defines[-1] = "pegasus.data.configuration=condorio"
    wants(three, 0, "link")
    assert watched() == {}


@pytest.mark.parametrize("key", ["backend", "cache"])
def test_only_a_disk_that_outlives_jobs_has_the_key(three: User, key: str) -> None:
    """And its value is a size."""
    bad: dict[str, Any] = {"backend": "directory", "cache": "half of it"}
    three.tier[key] = bad[key]
    why = {"backend": "leave it out: it is for node-local tiers", "cache": key}
    three.is_refused(why[key])
