"""The files in <submit>/bb that the programs of a run read, for both planners."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pegasus_bb.core.files import is_on_root
from pegasus_bb.core.paths import local_path
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.dag.roles import id_in_names
from pegasus_bb.model.document import as_json
from pegasus_bb.model.placement import (
    HINTS,
    JobReservation,
    PlacedFile,
    Placement,
    chain_lengths,
)
from pegasus_bb.model.reservation import Request
from pegasus_bb.model.workflow import Job, Workflow
from pegasus_bb.planner.local_files import nearest_folder
from pegasus_bb.planner.planned_by import PLANNED_BY, planned_by
from pegasus_bb.planner.rewrite.lifecycle import (
    JobFiles,
    links,
    outputs_beside_links,
    pools_of_jobs,
)
from pegasus_bb.planner.run_plan import RunPlan
from pegasus_bb.planner.seal.lives import PHASES
from pegasus_bb.planner.seal.sealing import ExecutableWorkflow
from pegasus_bb.runtime.bbdir import NODES, VERSION

File = tuple[str, bytes]  # path, content


def run_files(
    planned: ExecutableWorkflow, given: PlanningInput, run: RunPlan
) -> Iterator[File]:
    """The files of the whole run, by path below bb/. ``given`` is as the user has
    it, not rewritten."""
    yield "plan.json", as_json(_plan(planned, given, run))
    yield PLANNED_BY, planned_by(given, run)
    if run.darshan:
        from pegasus_bb.runtime import darshan_preload

        yield darshan_preload.NOTE, as_json({"library": run.darshan})
        yield darshan_preload.SETTINGS, darshan_preload.CONFIGURATION
    placement = run.placement
    request = run.request
    pools = run.pool_folders.values()
    more = planned.inner_containers
    found = containers_file(given, pools=pools, scratch=planned.scratch, more=more)
    yield from found.items()
    if placement is None:
        return
    prefix = ""
    on_the_pfs = planned.scratch
    if request is not None:
        prefix = request.prefix
        on_the_pfs = pfs_scratch(planned, given, run)
        yield "request.json", as_json(request.to_json())
    where: dict[str, Any] = {
        "prefix": prefix,
        "scratch": planned.scratch,
        "pfs_scratch": on_the_pfs,
    }
    if run.pool_folders:
        where["pools"] = run.pool_folders
    yield "placement.json", _placement(placement, where, planned)
    if run.transient is not None:
        yield "transient.json", as_json(run.transient.to_json())
    drain = run.drain
    if drain is not None and not drain.is_late:
        windows = drain.to_json(run.uuid, planned.dag.nodes, planned.entries)
        yield "drain.json", as_json(windows)
    if planned.phases is not None:
        from pegasus_bb.planner.seal.phases import phases_json

        yield PHASES, as_json(phases_json(planned.phases))
    if request is not None and request.kind.is_slurm:
        from pegasus_bb.planner.rewrite.site_directives import USE, shared_directives

        yield USE, shared_directives(request).encode()


def node_files(
    planned: ExecutableWorkflow, given: PlanningInput, run: RunPlan
) -> Iterator[File]:
    """The files of single nodes, by path below bb/. Raises UsageError."""
    yield from _shared_files(planned, given, run)
    yield from _reservation_files(planned, given, run)


def _reservation_files(
    planned: ExecutableWorkflow, given: PlanningInput, run: RunPlan
) -> Iterator[File]:
    request, placement = run.transient, run.placement
    if request is None or placement is None:
        return
    shared = _shared_inputs(given, placement)
    chains = _chains_tried_in_place(given, run)
    checkpoints = _checkpoints(given) if chains else set()
    for job, node, reservation in planned.reserved_nodes(run):
        saved = _evacuation_of(given, placement, reservation)
        own = {"job": job, **_fields(reservation), **saved}
        of_others = [lfn for lfn in reservation.cacheable if lfn in shared]
        if of_others:
            own["shared"] = {lfn: shared[lfn] for lfn in of_others}
        if job in chains and checkpoints.isdisjoint(reservation.write):
            own["retry"] = min(planned.dag.nodes[node].retry, MOST_IN_PLACE)
        yield _node_file(node, {"reservation": own})
    if request.kind.is_slurm:
        yield from _directives(planned, given, run, request, placement)


def _chains_tried_in_place(given: PlanningInput, run: RunPlan) -> set[str]:
    """Those whose failed task is tried again before all of it is: none if the folder of
    a failed try is kept, for it would be gone."""
    if given.settings.keeps_failed or not run.chains:
        return set()
    return run.job_reservations.keys() - given.workflow.jobs.keys()


def _checkpoints(given: PlanningInput) -> set[str]:
    """One that lives behind a link stays for the next try, which starts on a node as if
    nothing had been: no task is tried in its place beside it."""
    return {use.lfn for job in given.workflow for use in job.checkpoints()}


def _evacuation_of(
    given: PlanningInput, placement: Placement, own: JobReservation
) -> dict[str, Any]:
    """The keys of a job reservation that say what is saved; none if nothing is, or if
    Slurm makes and empties it."""
    settings = given.settings
    if placement.job_tier.is_staged or not (own.checkpoints or settings.keeps_failed):
        return {}
    said: dict[str, Any] = {"within": settings.evacuate_within}
    if own.checkpoints:
        said["every"] = settings.evacuate_every
    if settings.keeps_failed:
        said["keep"] = True
    files = {"checkpoints": own.checkpoints} if own.checkpoints else {}
    return {**files, "evacuation": said}


def _shared_inputs(given: PlanningInput, placement: Placement) -> dict[str, str]:
    """LFN -> the digest that it has to have, of inputs that come once to a node; empty:
    it is not checked."""
    if not placement.job_tier.has_cache:
        return {}
    from pegasus_bb.decide.shared_inputs import readers  # few tiers have a cache

    shared = readers(placement.job_reservations.values())
    if given.catalogs.integrity_checking != "full":
        return dict.fromkeys(shared, "")
    return {lfn: given.catalogs.replicas.checksum(lfn) for lfn in shared}


def _directives(
    planned: ExecutableWorkflow,
    given: PlanningInput,
    run: RunPlan,
    request: Request,
    placement: Placement,
) -> Iterator[File]:
    """What sbatch reads for each job with a reservation."""
    from pegasus_bb.planner.rewrite.job_directives import directives_of, linked_sources
    from pegasus_bb.runtime.job_reservation.planned import landing_of

    sources = linked_sources(given.catalogs, placement)
    common = run.request
    shared = common.name if common and common.kind.is_slurm else ""
    for job, node, reservation in planned.reserved_nodes(run):
        landing = str(Path(landing_of(request.prefix, node, "0")).parent)
        text = directives_of(request, reservation, landing, sources, shared)
        yield f"{NODES}/{id_in_names(job)}.bbf", text.encode()


def pfs_scratch(planned: ExecutableWorkflow, given: PlanningInput, run: RunPlan) -> str:
    """The folder in the site's own scratch for what does not live on the buffer."""
    request = run.request
    if request is None:
        return planned.scratch
    return given.scratch + planned.scratch[len(request.prefix) :]


def _plan(
    planned: ExecutableWorkflow, given: PlanningInput, run: RunPlan
) -> dict[str, Any]:
    predicted = run.predicted
    more: dict[str, Any] = {}
    if run.chains:
        more["chains"] = list(chain_lengths(run.chains))
    if predicted is not None:
        more["predicted"] = predicted.to_json()
    reservations = run.job_reservations.values()
    if given.settings.keeps_failed or any(own.checkpoints for own in reservations):
        # For the engine: how long a job may take to save its files after a signal.
        more["evacuate_within"] = given.settings.evacuate_within
    return {
        "version": VERSION,
        "mode": run.mode,
        "planner": planned.planner,
        "site": run.site,
        "tier": run.tier,
        "label": run.label,
        "dag": planned.dag_name,
        "dag_size": planned.dag.size,
        "scratch": planned.scratch,
        "results": _results_place(planned.outputs),
        "uuid": run.uuid,
        **more,
    }


def _placement(
    placement: Placement, where: dict[str, Any], planned: ExecutableWorkflow
) -> bytes:
    files = {lfn: _file(placed) for lfn, placed in placement.files.items()}
    return as_json({"version": 1, **where, "files": files, "outputs": planned.outputs})


def _results_place(outputs: Mapping[str, str]) -> dict[str, list[str]]:
    """The folders that results go to, or what is there of their paths, for
    runtime/results_place.py. A folder at the top is always there, mounted or not."""
    roots: set[str] = set()
    for lfn, dest in outputs.items():
        path = local_path(dest) or ""
        if path.endswith(f"/{lfn}"):
            roots.add(path[: -len(lfn) - 1])
    there = sorted({str(nearest_folder(Path(root))) for root in roots})
    return {
        "folders": [folder for folder in there if folder.count("/") > 1],
        "mounted": [folder for folder in there if not is_on_root(folder)],
    }


def _file(placed: PlacedFile) -> dict[str, Any]:
    entry = {"tier": placed.tier, "how": placed.how, "size": placed.size}
    if placed.pool:
        entry["pool"] = placed.pool
    if placed.stream:
        entry["hint"] = HINTS[placed.stream]
    return entry


def _shared_files(
    planned: ExecutableWorkflow, given: PlanningInput, run: RunPlan
) -> Iterator[File]:
    """What jobs without a job reservation need: links, pools, hints and their private
    folder. A cluster has those of all its tasks."""
    reserved = run.job_reservations
    wanted = _placed_elsewhere(planned, given, run)
    by_node: dict[str, dict[str, dict[str, Any]]] = {}
    for job, node in planned.jobs_nodes() if any(wanted.values()) else ():
        for key, jobs in wanted.items():
            if job in jobs and job not in reserved:
                by_node.setdefault(node, {}).setdefault(key, {}).update(jobs[job])
    if run.is_private:
        from pegasus_bb.planner.private_folders import needs_by_node

        for node, needs in needs_by_node(planned, given, reserved).items():
            by_node.setdefault(node, {})["private"] = needs
    if run.jobs_travel:  # HTCondor wants each file that is to come with a job
        for job, node in planned.jobs_nodes():
            if job not in reserved:  # those have theirs
                by_node.setdefault(node, {})
    for node, found in by_node.items():
        yield _node_file(node, found)


def _placed_elsewhere(
    planned: ExecutableWorkflow, given: PlanningInput, run: RunPlan
) -> dict[str, JobFiles[Any]]:
    """Key of a node's file -> job -> LFN -> where it goes, or how."""
    placement = run.placement
    if placement is None or run.request is None:
        return {}
    on_the_pfs = pfs_scratch(planned, given, run)
    wanted: dict[str, JobFiles[Any]] = {
        "links": links(given.workflow, placement, on_the_pfs),
        "pools": pools_of_jobs(given.workflow, placement),
    }
    if not run.is_private:
        outputs = outputs_beside_links(given.workflow, placement, planned.scratch)
        wanted["outputs"] = outputs
    if placement.tier.streams != "off":
        from pegasus_bb.decide.stream_choice import outputs_to_make  # few tiers

        wanted["hints"] = outputs_to_make(given, placement)
    return wanted


def _node_file(node: str, data: dict[str, Any]) -> File:
    return f"{NODES}/{node}.json", as_json({"version": VERSION, **data})


def _fields(reservation: JobReservation) -> dict[str, object]:
    own: dict[str, object] = {
        "capacity": reservation.capacity,
        "stage_in": reservation.stage_in,
        "stage_out": reservation.stage_out,
        "read": reservation.read,
        "write": reservation.write,
        "share": reservation.share,
    }
    few = {"stay": reservation.stay, "watched": reservation.watched}
    return {**own, **{key: lfns for key, lfns in few.items() if lfns}}


CONTAINERS = "containers.json"
MOST_IN_PLACE = 3  # further tries of a task; DAGMan has RETRY of the whole chain
_MOST_FOLDERS = 64  # each is one more argument of the container's program


def containers_file(
    given: PlanningInput,
    *,
    pools: Iterable[str] = (),
    scratch: str = "",
    more: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> dict[str, bytes]:
    """The name and contents of the file; empty if no task has a container. ``pools``
    are the run's folders in pools of the tier, ``scratch`` is that of its files.
    ``more``: containers that other catalogs name, by transformation.

    Raises CatalogError if a container cannot be started.
    """
    workflow, site = given.workflow, given.site
    known = given.catalogs.transformations
    names = {job.transformation for job in workflow}
    if given.has_sub_workflows:
        names |= known.transformations.keys()
    programs = (known.executable(name, site.name) for name in names)
    if not more and not any(each and each.container for each in programs):
        return {}
    from pegasus_bb.model.containers import containers_for  # few workflows have some

    found = containers_for(known, names, site.name, scratch)
    for job in workflow:
        if job.transformation in found:
            _check_job(workflow, job)
    folders = [*([site.scratch.path] if site.scratch else []), *pools]
    folders += _merge_folders(_linked_folders(given.catalogs, site.name))
    data = {"version": 1, "folders": folders, "transformations": {**found, **more}}
    return {CONTAINERS: as_json(data)}


def _check_job(workflow: Workflow, job: Job) -> None:
    """The launcher starts containers, by the name of the transformation."""
    if job.profile("selector", "execution.site") == "local":
        raise workflow.job_error(
            job,
            f"job {job.id} runs on site local, where nothing starts its container",
            "local",
            "run it on the site of the other jobs, or without a container",
            "profiles",
            "selector",
            "execution.site",
        )
    arguments = job.profile("pegasus", "container.arguments")
    if arguments is not None:
        raise workflow.job_error(
            job,
            f"job {job.id} has arguments of its own for its container",
            arguments,
            "say them for the container or for the transformation",
            "profiles",
            "pegasus",
            "container.arguments",
        )


def _linked_folders(catalogs: Catalogs, site: str) -> set[str]:
    paths = (catalogs.link_target(site, lfn) for lfn in catalogs.replicas.replicas)
    return {posixpath.dirname(path) for path in paths if path is not None}


def _merge_folders(folders: Iterable[str]) -> list[str]:
    """At most _MOST_FOLDERS folders that contain ``folders``: the deepest are replaced
    by their parents."""
    merged = set(folders)
    while len(merged) > _MOST_FOLDERS:
        depth = max(folder.count("/") for folder in merged)
        merged = {
            posixpath.dirname(folder) if folder.count("/") == depth else folder
            for folder in merged
        }
    return sorted(merged)
