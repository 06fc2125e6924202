"""What becomes of reservations and of the prediction where jobs run in clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.decide.job_reservations import join_job_reservations
from pegasus_bb.decide.lint_requests import lint_requests
from pegasus_bb.planner.run_plan import RunPlan
from pegasus_bb.planner.seal.sealing import AnyWorkflow


def with_cluster_reservations(
    planned: AnyWorkflow,
    clusters: Mapping[str, Sequence[str]],
    given: PlanningInput,
    run: RunPlan,
) -> tuple[AnyWorkflow, RunPlan]:
    """Mode transient: a cluster has one reservation, under its own name, for the files
    of its tasks. ``clusters`` has the ids of these by node. Raises CatalogError if it
    would be too large for the tier."""
    if len(clusters) != len(run.chains):  # a prediction knows chains, no other clusters
        run = replace(run, predicted=None)
    placement = run.placement
    if placement is None or run.request is not None or not clusters:
        return planned, run
    placement = join_job_reservations(given, placement, clusters)
    lint_requests(given, placement)
    pairs = [pair for pair in planned.jobs_nodes() if pair[1] not in clusters]
    pairs += [(name, name) for name in clusters]
    run = run.with_placement(placement)
    return replace(planned, jobs_nodes=lambda: pairs), run
