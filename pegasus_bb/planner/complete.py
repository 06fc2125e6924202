"""Completes an executable workflow of either planner.

Jobs with a reservation wait for their results. Where jobs share one, the DAG gets its
phases, the gate and the last edges, and is checked. Edges are only ever added.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from pegasus_bb.dag.nodes import Dag, Script
from pegasus_bb.model.workflow import Job, Workflow
from pegasus_bb.placement.liveness import sizes
from pegasus_bb.planner.executable import ExecutableWorkflow
from pegasus_bb.planner.run_plan import RunPlan
from pegasus_bb.planner.seal import (
    Phases,
    check_phases,
    in_phases,
    read_lives,
    removals,
    seal,
)
from pegasus_bb.planner.seal.view import DEFERRED, View

Planned = TypeVar("Planned", bound=ExecutableWorkflow)


def complete(planned: Planned, workflow: Workflow, context: RunPlan) -> Planned:
    """``planned``, made of the user's ``workflow``, ready to run. Raises NotSealed."""
    dag = _awaiting_stage_out(planned, context)
    if context.request is None:
        return replace(planned, dag=dag)
    removes = removals(dag.nodes, planned.entries)
    gate = f"{context.bin}/gate"
    view = View(dag, planned.users, context.site, gate, removes, planned.is_ours)
    view, phases = _in_phases(view, planned, workflow, context)
    dag = seal(view, context.poll, context.gate_again)
    if phases is not None:
        check_phases(dag, phases)
    return replace(planned, dag=dag, phases=phases)


def _awaiting_stage_out(planned: ExecutableWorkflow, context: RunPlan) -> Dag:
    """Each job with a reservation ends when its results are back."""
    rooms = context.placement.job_reservations if context.placement else {}
    if not rooms:
        return planned.dag
    nodes = dict(planned.dag.nodes)
    for job, name in planned.jobs_nodes():
        post = nodes[name].post
        if job in rooms and post is not None:
            nodes[name] = replace(
                nodes[name], post=await_stage_out_post(post, name, context)
            )
    return replace(planned.dag, nodes=nodes)


def await_stage_out_post(post: Script, node: str, context: RunPlan) -> Script:
    """``post``, which judges ``node``, once the node's results are back."""
    words = f"{node} $JOBID $RETURN {post.executable} {post.arguments}"
    return Script(f"{context.bin}/await_stage_out", words, DEFERRED, context.poll)


def _in_phases(
    view: View, planned: ExecutableWorkflow, workflow: Workflow, context: RunPlan
) -> tuple[View, Phases | None]:
    """``view`` with barriers between phases, where its files do not fit at once."""
    placement = context.placement
    if placement is None or placement.phases is None or placement.phases.count == 1:
        return view, None
    if len(view.gated) != 1:
        return view, None  # sealing refuses it
    made: dict[str, list[str]] = {}
    for ident, node in planned.jobs_nodes():
        job = workflow.jobs.get(ident)
        if job is not None and _runs_on(job, context.site):
            written = (use.lfn for use in job.uses if use.kind != "input")
            made.setdefault(node, []).extend(written)
    lives = read_lives(
        view.dag.nodes, planned.entries, made, planned.scratch, sizes(placement)
    )
    dag, phases = in_phases(view.dag, lives, made.keys(), placement.phases.limit)
    return replace(view, dag=dag), phases


def _runs_on(job: Job, site: str) -> bool:
    return (job.profile("selector", "execution.site") or site) == site
