"""Links that a job needs before it starts."""

from __future__ import annotations

from dataclasses import replace

from pegasus_bb.model.placement import Placement
from pegasus_bb.model.workflow import read_workflow
from pegasus_bb.planner.rewrite.lifecycle import links
from pegasus_bb.planner.rewrite.pass_input import Inputs, Target


def on_pfs(plan: Target, *lfns: str) -> Placement:
    files = {
        lfn: replace(file, tier="pfs") if lfn in lfns else file
        for lfn, file in plan.placement.files.items()
    }
    return replace(plan.placement, files=files)


def test_jobs_that_write_to_the_buffer_need_none(inputs: Inputs, plan: Target) -> None:
    workflow = read_workflow(inputs.workflow)
    assert links(workflow, plan.placement, "/lus/run0001") == {}


def test_a_writer_to_the_pfs_needs_one_its_readers_do_not(
    inputs: Inputs, plan: Target
) -> None:
    workflow = read_workflow(inputs.workflow)
    assert links(workflow, on_pfs(plan, "part.txt"), "/lus/run0001/") == {
        "ID1": {"part.txt": "/lus/run0001/part.txt"}
    }


def test_inputs_are_stage_in_s(inputs: Inputs, plan: Target) -> None:
    workflow = read_workflow(inputs.workflow)
    placement = on_pfs(plan, "in.txt", "out.txt")
    assert placement.files["in.txt"].how == "link"
    assert links(workflow, placement, "/lus") == {"ID2": {"out.txt": "/lus/out.txt"}}
