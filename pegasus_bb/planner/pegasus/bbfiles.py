"""What a run's own programs read in <submit>/bb, for a DAG that Pegasus planned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pegasus_bb.planner.bbjson import as_json
from pegasus_bb.planner.context import PlanContext, predicted_as_json


def plan_json(context: PlanContext, version: str, dag: str, scratch: str) -> bytes:
    """plan.json: what this run is, for people and for the other commands."""
    return as_json(
        {
            "version": 1,
            "mode": context.mode,
            "planner": f"pegasus-plan {version}",
            "site": context.site,
            "tier": context.tier,
            "label": context.label,
            "dag": dag,
            "scratch": scratch,
            "uuid": context.uuid,
            **predicted_as_json(context),
        }
    )


def link_files(
    links: Mapping[str, Mapping[str, str]], nodes: Iterator[tuple[str, str]]
) -> dict[str, bytes]:
    """links/<node>.json by name; a cluster has the links of all its tasks."""
    by_node: dict[str, dict[str, str]] = {}
    for job, node in nodes:
        if job in links:
            by_node.setdefault(node, {}).update(links[job])
    return {f"links/{node}.json": as_json(found) for node, found in by_node.items()}
