"""bb_setup and bb_delete join the workflow."""

from __future__ import annotations

from typing import Any

import pytest

from pegasus_bb.errors import CatalogError
from pegasus_bb.rewrite import Inputs, Target
from pegasus_bb.rewrite.lifecycle import add_lifecycle_jobs
from tests.rewrite.differences import changed


def job(name: str, ident: str) -> dict[str, Any]:
    return {
        "type": "job",
        "name": name,
        "id": ident,
        "arguments": [],
        "uses": [],
        "profiles": {"selector": {"execution.site": "local"}},
    }


def test_all_else_comes_back_unchanged(inputs: Inputs, plan: Target) -> None:
    after = add_lifecycle_jobs(inputs, plan)
    assert after.sites is inputs.sites
    assert after.properties is inputs.properties
    for old, new in zip(
        inputs.workflow.data["jobs"], after.workflow.data["jobs"], strict=False
    ):
        assert new is old
    assert list(after.workflow.data) == list(inputs.workflow.data)
    assert set(changed(inputs, after)) == {
        "workflow/jobs/3",
        "workflow/jobs/4",
        "transformations/transformations/3",
        "transformations/transformations/4",
    }


def test_two_jobs_of_the_submit_host_come_last(inputs: Inputs, plan: Target) -> None:
    after = add_lifecycle_jobs(inputs, plan)
    assert after.workflow.data["jobs"][3:] == [
        job("bb_setup", "BB0000001"),
        job("bb_delete", "BB0000002"),
    ]
    assert after.transformations.data["transformations"][3] == {
        "name": "bb_setup",
        "sites": [
            {
                "name": "local",
                "pfn": "/home/me/run0001/bb/bin/setup",
                "type": "installed",
            }
        ],
    }


def test_who_waits_for_whom_is_left_to_the_seal(inputs: Inputs, plan: Target) -> None:
    after = add_lifecycle_jobs(inputs, plan).workflow.data
    assert after["jobDependencies"] == inputs.workflow.data["jobDependencies"]


def test_ids_that_are_taken_are_left_alone(edited: Any, plan: Target) -> None:
    inputs = edited(
        "workflow", {("jobs", 2, "id"): "BB0000001", ("jobDependencies",): []}
    )
    jobs = add_lifecycle_jobs(inputs, plan).workflow.data["jobs"]
    assert [entry["id"] for entry in jobs[2:]] == [
        "BB0000001",
        "BB0000002",
        "BB0000003",
    ]


@pytest.mark.parametrize("name", ["bb_setup", "bb_delete"])
def test_a_job_of_the_user_s_with_such_a_name_is_refused(
    edited: Any, plan: Target, name: str
) -> None:
    with pytest.raises(CatalogError, match="planning adds them itself") as error:
        add_lifecycle_jobs(edited("workflow", {("jobs", 1, "name"): name}), plan)
    assert error.value.key == "jobs.1.name"
    assert error.value.line == 15


def test_a_transformation_with_such_a_name_is_refused(
    edited: Any, plan: Target
) -> None:
    inputs = edited("transformations", {("transformations", 1, "name"): "bb_setup"})
    with pytest.raises(CatalogError, match="planning adds them") as error:
        add_lifecycle_jobs(inputs, plan)
    assert error.value.file.endswith("transformations.yml")


def test_rewriting_what_was_rewritten_is_refused(inputs: Inputs, plan: Target) -> None:
    with pytest.raises(CatalogError, match="planning adds them itself"):
        add_lifecycle_jobs(add_lifecycle_jobs(inputs, plan), plan)
