"""bb_setup and bb_delete join the workflow."""

from __future__ import annotations

from typing import Any

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.planner.rewrite.lifecycle import add_lifecycle_jobs
from pegasus_bb.planner.rewrite.pass_input import Target


@pytest.mark.parametrize("name", ["bb_setup", "bb_delete"])
def test_a_job_of_the_user_s_with_such_a_name_is_refused(
    edited: Any, plan: Target, name: str
) -> None:
    with pytest.raises(CatalogError, match="planning adds them itself") as error:
        add_lifecycle_jobs(edited("workflow", {("jobs", 1, "name"): name}), plan)
    assert error.value.key == "jobs.1.name"
    assert error.value.line == 15
