"""The node of a cluster: several tasks, one after the other, in one job.

bin/cluster runs them. Each has its own launcher and recorder, so it finds its files as
a job of its own would.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.planner.builtin.executable import (
    COMPUTE,
    BuiltInExecutable,
    Draft,
    PlannedJob,
    Program,
)
from pegasus_bb.planner.builtin.profiles import Profiles, merge, of_properties
from pegasus_bb.planner.cluster_reservations import with_cluster_reservations
from pegasus_bb.planner.rewrite.job_directives import directives_option
from pegasus_bb.planner.rewrite.site_directives import ARGUMENTS
from pegasus_bb.planner.run_plan import RunPlan

_TRANSFORMATION = "pegasus::seqexec"  # what Pegasus calls pegasus-cluster
_FAIL_FAST = (
    "pegasus.clusterer.job.aggregator.seqexec.firstjobfail",
    "pegasus.job.aggregator.seqexec.firstjobfail",
)
_NAMESPACES = ("pegasus", "env", "condor", "dagman")
# Profiles of namespace pegasus: the tasks run one after the other.
_NUMBER = re.compile(r"[0-9]{1,18}")
_SUMS = ("runtime", "maxwalltime")
_LARGEST = ("cores", "nodes", "ppn", "gpus", "memory", "diskspace")
_PLAIN = re.compile(r"[\w@%+=:,.-]+")


def cluster_node(draft: Draft, name: str, tasks: Sequence[PlannedJob]) -> PlannedJob:
    """Raises CatalogError for profiles that cannot be joined."""
    properties = draft.catalogs.properties
    program = Program(_TRANSFORMATION, f"{draft.run.bin}/cluster")
    priority = tasks[0].priority
    node = PlannedJob(name, COMPUTE, draft.site, program, priority, tasks=tasks)
    goes_on = any(not properties.flag(key, default=True) for key in _FAIL_FAST)
    node.arguments = () if goes_on else ("-f",)
    with draft.places.placed(*node.origin):
        node.profiles = _together(draft, name, tasks)
    return node


def _together(
    draft: Draft, name: str, tasks: Sequence[PlannedJob]
) -> dict[str, dict[str, str]]:
    """The profiles of all tasks: run times are added up, of cores and memory the most
    counts, and of all else what the first task says."""
    common = of_properties(draft.catalogs.properties)
    site = draft.site_profiles
    every = [merge(common, site, t.program.profiles, t.profiles) for t in tasks]
    found: dict[str, dict[str, str]] = {}
    for namespace in _NAMESPACES:
        joined: dict[str, str] = {}
        for profiles in reversed(every):
            joined.update(profiles.get(namespace, {}))
        if joined:
            found[namespace] = joined
    for key in (*_SUMS, *_LARGEST):
        values = [p["pegasus"][key] for p in every if key in p.get("pegasus", {})]
        if values and all(_NUMBER.fullmatch(value) for value in values):
            joining = sum if key in _SUMS else max
            found["pegasus"][key] = str(joining(map(int, values)))
    _name_directives(draft, name, tasks, found)
    return found


def _name_directives(
    draft: Draft, name: str, tasks: Sequence[PlannedJob], found: dict[str, Any]
) -> None:
    """In place of its tasks' own directives the batch system reads the cluster's."""
    placement = draft.run.placement
    ids = [job.id for task in tasks for job in task.jobs]
    if placement is None or draft.run.job_reservations.keys().isdisjoint(ids):
        return
    if placement.job_tier.kind.is_slurm:
        folder = draft.run.submit_dir
        options = {directives_option(folder, ident) for ident in ids}
        arguments = found.get("pegasus", {}).get(ARGUMENTS, "")
        words = [word for word in arguments.split(" ") if word not in options]
        words.append(directives_option(folder, name))
        found.setdefault("pegasus", {})[ARGUMENTS] = " ".join(words).strip()


def task_line(words: Sequence[str]) -> str:
    """The line of a task in the list of its cluster, as pegasus-cluster reads it too.

    Every word with a slash has quotes: the real path of a reservation, which takes the
    place of the planned one, may have a blank.
    """
    return " ".join(word if _PLAIN.fullmatch(word) else _quoted(word) for word in words)


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\"'\"'") + "'"


def added_environment(task: Profiles, cluster: Profiles) -> list[str]:
    """The start of the line of a task whose variables are not the cluster's."""
    common: Mapping[str, str] = cluster.get("env", {})
    own = task.get("env", {}).items()
    more = [f"{key}={value}" for key, value in own if common.get(key) != value]
    return ["/usr/bin/env", *more] if more else []


def with_clusters(
    built: BuiltInExecutable, given: PlanningInput, run: RunPlan
) -> tuple[BuiltInExecutable, RunPlan]:
    """Mode transient: a cluster has a reservation of its own, and asks for the disk of
    that. Raises CatalogError."""
    clusters = {
        node.name: [job.id for job in node.jobs]
        for node in built.jobs.values()
        if node.tasks
    }
    before = run.placement
    built, run = with_cluster_reservations(built, clusters, given, run)
    joined = run.placement
    if before is None or joined is before or joined is None:
        return built, run
    if joined.job_tier.request is not None:
        from pegasus_bb.planner.rewrite.disk_requests import request_cluster

        own = before.job_reservations
        for name, ids in clusters.items():
            tasks = [own[ident] for ident in ids if ident in own]
            request_cluster(joined, built.jobs[name].profiles, tasks, name)
    return built, run
