"""--bb-drain off: in no order does a result leave before the last job has computed."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given

from pegasus_bb.core.errors import NotSealed
from pegasus_bb.model.dag.roles import Role, role_of
from pegasus_bb.model.drain_settings import DrainRule
from pegasus_bb.model.placement import PlannedPhases
from pegasus_bb.planner.drain_plan import DrainPlan
from pegasus_bb.planner.seal.sealing import with_late_results
from tests.planner.conftest import new_job
from tests.planner.orders import any_order, workflows
from tests.planner.test_cleanup_order import QUIET, any_runner, with_jobs
from tests.planner.test_phases import sized

__all__ = ["any_runner"]
OFF = DrainPlan(DrainRule("off"))


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


def test_there_are_as_many_new_edges_as_nodes_not_pairs(runner: Any) -> None:
    wide(runner, 200)
    before = runner.plan().dag.children
    runner.change(drain=OFF)
    after = runner.plan().dag
    new = sum(map(len, after.children.values())) - sum(map(len, before.values()))
    assert 0 < new <= len(after.nodes)


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


def test_phases_keep_room_for_results_that_stay(runner: Any) -> None:
    """Two phases would do if results left; with off they are all there at the end."""
    runner.jobs = [
        new_job("A", "split", [], ["a", "!r0"]),
        new_job("B", "split", ["a"], ["b", "!r1"]),
        new_job("C", "split", ["b"], ["c", "!r2"]),
    ]
    phases = PlannedPhases(limit=50, ends=(1, 2, 3), peak=50)
    sized(runner, lambda lfn: 0 if lfn == "count" else 10, phases=phases)
    assert runner.plan().phases is not None
    runner.change(drain=OFF)
    planned = runner.plan()
    assert planned.phases is not None
    tight = replace(phases, limit=45)
    runner.change(placement=replace(runner.context.placement, phases=tight))
    with pytest.raises(NotSealed, match="do not fit"):
        runner.plan()
    runner.change(drain=None)
    assert runner.plan().phases is not None


def test_a_result_on_the_tier_goes_when_it_is_safe_and_read(runner: Any) -> None:
    """Its space comes back before the run ends, paced or not."""
    runner.jobs = [
        new_job("A", "split", [], ["!r"]),
        new_job("B", "split", ["r"], ["b"]),
        new_job("C", "split", ["b"], ["!last"]),
    ]
    runner.persistent()
    planned = runner.plan()
    gone = [
        name
        for name in planned.dag.nodes
        if role_of(name) is Role.CLEAN_UP
        and any(e["target"]["url"].endswith("/r") for e in planned.entries(name))
    ]
    before = {n for n, below in planned.dag.children.items() if set(gone) & set(below)}
    assert "split_B" in before
    assert any(role_of(name) is Role.STAGE_OUT for name in before)
    assert "split_C" not in before
