"""A checkpoint on a job's own reservation is for its next try, and no result."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from pegasus_bb.planner.pegasus.pegasus_inputs import with_own_checkpoints
from pegasus_bb.planner.rewrite.pass_input import Inputs
from pegasus_bb.planner.run_plan import RunPlan
from tests.support.user_files import User, said, use


@pytest.fixture
def user(tmp_path: Any) -> User:
    user = User(tmp_path)
    user.defines = ["pegasus.bb.mode=transient"]
    user.tier = {"backend": "directory", "path": "/fast"}
    return user


@pytest.mark.parametrize("tier", ["bb", "pfs"])
def test_pegasus_does_not_stage_it_out(user: User, tier: str) -> None:
    state = use("state", "checkpoint", stageOut=True, **said(tier))
    user.jobs[0]["uses"].append(state)
    given = user.given()
    inputs = Inputs.of(given.workflow.document, given.catalogs)
    reservations = user.decide().job_reservations
    run = cast(RunPlan, SimpleNamespace(job_reservations=reservations))
    changed = with_own_checkpoints(inputs, run).workflow.data["jobs"]
    stays = {**state, "stageOut": False, "registerReplica": False}
    assert changed[0]["uses"][-1] == (stays if tier == "bb" else state)
    assert changed[0]["uses"][:-1] == user.jobs[0]["uses"][:-1]
    assert changed[1:] == user.jobs[1:]
