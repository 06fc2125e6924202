"""Mode transient: what a cluster of jobs has on the one reservation of its tasks."""

from __future__ import annotations

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.core.units import MIB
from pegasus_bb.decide import lint_job_reservations as job_lint
from pegasus_bb.decide.job_reservations import (
    join_job_reservations,
    planned_job_reservations,
)
from pegasus_bb.model.placement import Placement
from tests.support.user_files import User, job, sized, use

ON_DISKS = {"backend": "directory", "path": "/fast", "quota": "9MiB"}


@pytest.fixture
def chain(user: User) -> User:
    """first makes mid for second; both read shared; third stands alone."""
    user.defines = ["pegasus.bb.mode=transient"]
    shared = use("shared", "input", **sized("3MiB"))
    user.replicas = {"shared": [{"site": "local", "pfn": "/shared"}]}
    mid = use("mid", "output", **sized("5MiB"))
    out = use("out", "output", **sized(1))
    user.jobs = [
        job("first", shared, mid),
        job("second", shared, use("mid", "input"), out),
        job("third", shared, use("more", "output", **sized("2MiB"))),
    ]
    return user


def joined(user: User, **clusters: list[str]) -> Placement:
    return join_job_reservations(user.given(), user.decide(), clusters)


def test_each_file_counts_once_and_what_was_made_there_is_not_brought(
    chain: User,
) -> None:
    found = joined(chain, merge_a=["first", "second"])
    assert set(found.job_reservations) == {"third", "merge_a"}
    own = found.job_reservations["merge_a"]
    assert own.stage_in == ("shared",)
    assert own.stage_out == ("mid", "out")
    assert (own.need, own.capacity) == (8 * MIB + 1, 12 * MIB)
    assert found.capacity == 12 * MIB


def test_jobs_that_are_not_planned_have_no_job_reservations(chain: User) -> None:
    found = planned_job_reservations(chain.decide(), {"third"})
    assert set(found.job_reservations) == {"third"}
    assert found.capacity == found.job_reservations["third"].capacity


@pytest.mark.parametrize("limit", [{"capacity": "9MiB"}, ON_DISKS])
def test_more_than_there_may_be_is_refused_by_the_cluster_s_name(
    chain: User, limit: dict[str, str]
) -> None:
    chain.tier = {"granularity": "1KiB", **limit}
    chain.defines.append("pegasus.bb.headroom=0")
    assert set(chain.decide().job_reservations) == {"first", "second", "third"}
    with pytest.raises(CatalogError, match="cluster merge_a of 3 jobs") as error:
        joined(chain, merge_a=["first", "second", "third"])
    assert "smaller clusters" in str(error.value)


def test_more_files_than_datawarp_stages_are_refused(
    chain: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_lint, "MOST_FILES", 3)
    joined(chain, merge_a=["first", "second"])
    words = "cluster merge_a of 3 jobs would have 4"
    with pytest.raises(CatalogError, match=words) as error:
        joined(chain, merge_a=["first", "second", "third"])
    assert "fewer jobs in one cluster" in str(error.value)


def test_a_job_that_is_called_like_a_cluster_is_refused(chain: User) -> None:
    with pytest.raises(CatalogError, match="name that pegasus-plan gave"):
        joined(chain, third=["first", "second"])
