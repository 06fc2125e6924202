"""bb_setup and bb_delete join the workflow."""

from __future__ import annotations

from typing import Any

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.planner.rewrite.lifecycle import add_lifecycle_jobs
from pegasus_bb.planner.rewrite.pass_input import Inputs, Target
from tests.planner.rewrite.differences import changed


def job(name: str, ident: str) -> dict[str, Any]:
    return {
        "type": "job",
        "name": name,
        "id": ident,
        "arguments": [],
        "uses": [],
        "profiles": {"selector": {"execution.site": "local"}},
    }


def program(name: str, file: str) -> dict[str, Any]:
    pfn = f"/home/me/run0001/bb/bin/{file}"
    return {"name": name, "sites": [{"name": "local", "pfn": pfn, "type": "installed"}]}


def test_two_jobs_of_the_submit_host_come_last(inputs: Inputs, plan: Target) -> None:
    at = "transformations/transformations"
    assert changed(inputs, add_lifecycle_jobs(inputs, plan)) == {
        "workflow/jobs/3": job("bb_setup", "BB0000001"),
        "workflow/jobs/4": job("bb_delete", "BB0000002"),
        f"{at}/3": program("bb_setup", "setup"),
        f"{at}/4": program("bb_delete", "delete"),
    }


def test_they_are_programs_of_the_system_of_site_local(
    edited: Any, plan: Target
) -> None:
    system = {"arch": "ppc64le", "os.release": "rhel", "os.version": 8}
    changes = {("sites", 0, key): value for key, value in system.items()}
    after = add_lifecycle_jobs(edited("sites", changes), plan)
    for entry in after.transformations.data["transformations"][-2:]:
        (site,) = entry["sites"]
        assert system.items() <= site.items()


def test_ids_that_are_taken_are_left_alone(edited: Any, plan: Target) -> None:
    inputs = edited(
        "workflow", {("jobs", 2, "id"): "BB0000001", ("jobDependencies",): []}
    )
    jobs = add_lifecycle_jobs(inputs, plan).workflow.data["jobs"]
    assert [entry["id"][-1] for entry in jobs[2:]] == ["1", "2", "3"]


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
