"""The user's workflow and catalogs as a planner reads them, in any mode."""

from __future__ import annotations

from dataclasses import replace

from pegasus_bb.model.catalogs import Catalogs, read_sites
from pegasus_bb.model.graph import build_graph
from pegasus_bb.model.transformations import read_transformations
from pegasus_bb.model.workflow import read_workflow
from pegasus_bb.placement import PlanningInput
from pegasus_bb.planner.run_plan import RunPlan
from pegasus_bb.rewrite import JOB_PASSES, WORKFLOW_PASSES, Inputs, rewrite


def rewritten_inputs(given: Inputs, context: RunPlan) -> Inputs:
    """``given`` so that it runs on the buffer; as it is in mode off. Raises
    CatalogError, UsageError."""
    if context.rewriting is None:
        return given
    passes = WORKFLOW_PASSES if context.request else JOB_PASSES
    return rewrite(given, context.rewriting, passes)


def rewritten(decided: PlanningInput, context: RunPlan) -> PlanningInput:
    """The same, read again: what the built-in planner plans."""
    if context.rewriting is None:
        return decided
    given = decided.catalogs
    changed = rewritten_inputs(Inputs.of(decided.workflow.document, given), context)
    catalogs = Catalogs(
        changed.properties,
        read_sites(changed.sites),
        given.replicas,  # no pass changes it, and --input-dir is in it
        read_transformations(changed.transformations),
        given.tiers,
    )
    workflow = read_workflow(changed.workflow, decided.workflow)
    graph = build_graph(workflow)
    return replace(decided, workflow=workflow, graph=graph, catalogs=catalogs)
