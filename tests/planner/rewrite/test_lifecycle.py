"""bb_setup and bb_delete join the workflow."""

from __future__ import annotations

from typing import Any

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.planner.rewrite.lifecycle import add_lifecycle_jobs
from pegasus_bb.planner.rewrite.pass_input import Target


def test_they_are_programs_of_the_system_of_site_local(
    edited: Any, plan: Target
) -> None:
    system = {"arch": "ppc64le", "os.release": "rhel", "os.version": 8}
    changes = {("sites", 0, key): value for key, value in system.items()}
    after = add_lifecycle_jobs(edited("sites", changes), plan)
    for entry in after.transformations.data["transformations"][-2:]:
        (site,) = entry["sites"]
        assert system.items() <= site.items()


@pytest.mark.parametrize("name", ["bb_setup", "bb_delete"])
def test_a_job_of_the_user_s_with_such_a_name_is_refused(
    edited: Any, plan: Target, name: str
) -> None:
    with pytest.raises(CatalogError, match="planning adds them itself") as error:
        add_lifecycle_jobs(edited("workflow", {("jobs", 1, "name"): name}), plan)
    assert error.value.key == "jobs.1.name"
    assert error.value.line == 15
