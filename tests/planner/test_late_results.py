"""--bb-drain off: in no order does a result leave before the last job has computed."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given

from pegasus_bb.core.errors import NotSealed
from pegasus_bb.model.dag.roles import Role, role_of
from pegasus_bb.model.drain_policies import read_rule
from pegasus_bb.planner.drain_plan import DrainPlan
from pegasus_bb.planner.seal.sealing import with_late_results
from tests.planner.conftest import new_job
from tests.planner.orders import any_order
from tests.planner.test_cleanup_order import QUIET, any_runner, with_jobs
from tests.support.any_workflow import workflows

__all__ = ["any_runner"]
OFF = DrainPlan(read_rule("off"))


def starts_of(runner: Any, seed: int) -> list[Role]:
    """Roles in the order in which nodes start; a task counts when it ends."""
    order = any_order(runner.plan().dag, Random(seed))
    tasks = {n for _, n in runner.plan().jobs_nodes() if not n.startswith("bb_")}
    wanted = [(name, starts) for name, starts in order if (name in tasks) != starts]
    return [Role.TASK if name in tasks else role_of(name) for name, _ in wanted]


@QUIET
@given(jobs=workflows("split", "count", "merge"))
def test_no_stage_out_starts_before_the_last_job_has_ended(
    any_runner: Any, jobs: list[dict[str, Any]]
) -> None:
    runner = with_jobs(any_runner, jobs)
    runner.persistent()
    runner.change(drain=OFF)
    for seed in range(3):
        order = starts_of(runner, seed)
        if Role.STAGE_OUT in order:
            assert Role.TASK not in order[order.index(Role.STAGE_OUT) :]


def wide(runner: Any, width: int) -> Any:
    """So many jobs in each of two levels, all with a result."""
    runner.jobs = [
        new_job(f"J{n}-{m}", "split", [f"f{m}"] if n else [], [f"!r{n}-{m}"])
        for n in range(2)
        for m in range(width)
    ]
    for job, name in zip(runner.jobs, range(width), strict=False):
        lfn = f"f{name}"
        job["uses"].append({"lfn": lfn, "type": "output", "stageOut": False})
    runner.persistent()
    return runner


def test_edges_are_only_added_at_the_end(runner: Any) -> None:
    """A real pegasus-plan's DAG gets what stands behind its own edges."""
    wide(runner, 20)
    planned = runner.plan()
    tasks = [node for _, node in planned.jobs_nodes()]
    changed = with_late_results(planned.dag, tasks, planned.entries)
    for name, below in planned.dag.children.items():
        assert list(changed.children[name][: len(below)]) == list(below)


def test_a_task_that_waits_for_a_stage_out_is_refused(runner: Any) -> None:
    planned = wide(runner, 2).plan()
    (stage_out, *_) = (n for n in planned.dag.nodes if role_of(n) is Role.STAGE_OUT)
    tasks = [node for _, node in planned.jobs_nodes()]
    children = {**planned.dag.children, stage_out: ["split_J1-1"]}
    dag = replace(planned.dag, children=children)
    with pytest.raises(NotSealed, match="--bb-drain off: split_J1-1 would wait"):
        with_late_results(dag, tasks, planned.entries)
