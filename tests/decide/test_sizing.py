"""How much is reserved, and which capacities are refused."""

from __future__ import annotations

from typing import Any

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.core.units import MIB
from tests.support.user_files import User, job, said, sized, use

BIG = [job("ID1", use("big", "output", **sized("10MiB")))]


@pytest.mark.parametrize(
    ("tier", "setting", "capacity"),
    [
        ({}, "", 12),  # 11 MiB with headroom, in steps of 4
        ({"granularity": "1MiB"}, "headroom=0", 10),
        ({"capacity": "17MiB"}, "", 20),  # rounded up to the granule
        ({"capacity": "80MiB"}, "capacity=16MiB", 16),
        ({"capacity": "80MiB"}, "capacity=auto", 12),
    ],
)
def test_the_capacity(
    user: User, tier: dict[str, Any], setting: str, capacity: int
) -> None:
    user.jobs, user.tier = BIG, tier
    user.defines = [f"pegasus.bb.{setting}"] if setting else []
    placement = user.decide()
    assert (placement.need, placement.capacity) == (10 * MIB, capacity * MIB)


def test_auto_with_unknown_sizes_is_refused_and_names_the_first_ten(
    user: User,
) -> None:
    user.jobs = [job("ID1", *(use(f"f{n:02}", "output") for n in range(12)))]
    with pytest.raises(CatalogError) as error:
        user.decide()
    text = str(error.value)
    assert "not known for 12: f00, f01," in text
    assert "f09, ..." in text
    assert "f10" not in text
    assert "--bb-capacity" in text
    assert error.value.file.endswith("sites.yml")
    assert error.value.key == "x-storage-tiers.cluster.0.capacity"


def test_what_is_nowhere_has_no_size_to_declare(user: User) -> None:
    inputs = [use(lfn, "input") for lfn in ("here.txt", "lost.txt", "gone.txt")]
    user.jobs = [job("ID1", *inputs, use("out", "output", **sized(1)))]
    user.replicas = {"here.txt": [{"site": "far", "pfn": "http://far/here.txt"}]}
    error = user.is_refused("has no replica")
    assert error.found == "lost.txt, gone.txt"
    assert error.key == "jobs.0.uses.1.lfn"


def test_pinned_files_above_the_capacity_are_refused_with_both_figures(
    user: User,
) -> None:
    user.jobs = [job("ID1", use("big", "output", **said("bb", 10 * MIB)))]
    user.tier = {"capacity": "9MiB", "granularity": "1MiB"}
    error = user.is_refused(r"9.0 MiB .* below .* 10.0 MiB")
    text = (user.folder / "sites.yml").read_text().splitlines()
    assert text[error.line - 1].strip() == "capacity: 9MiB"


def test_more_than_the_quota_of_a_directory_tier_is_refused(user: User) -> None:
    user.jobs = [job("ID1", use("big", "output", **sized("10MiB")))]
    user.tier = {"backend": "directory", "path": "/tmp/bb", "quota": "8MiB"}
    user.is_refused(r"12.0 MiB .* quota of tier bb is 8.0 MiB")


def test_more_than_a_scheduler_can_count_is_refused(user: User) -> None:
    user.tier = {"capacity": "99999999PiB"}
    user.is_refused("no scheduler can count")
