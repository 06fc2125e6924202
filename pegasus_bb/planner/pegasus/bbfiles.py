"""What a run's own programs read in <submit>/bb, for a DAG that Pegasus planned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from pegasus_bb.model.placement import Placement
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


def placement_json(
    placement: Placement,
    prefix: str,
    scratch: str,
    pfs_scratch: str,
    outputs: Mapping[str, str],
) -> bytes:
    """placement.json: where each file lives, and the results that are promised."""
    files = {
        lfn: {"tier": placed.tier, "how": placed.how, "size": placed.size}
        for lfn, placed in placement.files.items()
    }
    return as_json(
        {
            "version": 1,
            "prefix": prefix,
            "scratch": scratch,
            "pfs_scratch": pfs_scratch,
            "files": files,
            "outputs": dict(outputs),
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


def as_json(data: Any) -> bytes:
    """As every small file of bb/ is written."""
    return orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
