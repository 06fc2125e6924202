"""From the rewritten workflow to an executable one. Reads no clock, writes nothing."""

from __future__ import annotations

from pegasus_bb.dag.nodes import JOBSTATE_LOG, Dag
from pegasus_bb.errors import CatalogError
from pegasus_bb.model.workflow import Job
from pegasus_bb.planner.builtin import cleanup, stage
from pegasus_bb.planner.builtin.checks import (
    check_context,
    check_job,
    check_results_survive,
    refused,
)
from pegasus_bb.planner.builtin.dagman import Nodes, max_jobs
from pegasus_bb.planner.builtin.draft import Draft
from pegasus_bb.planner.builtin.executable import COMPUTE, Executable, PlannedJob
from pegasus_bb.planner.builtin.names import JOBS_PER_FOLDER, folder, node_name
from pegasus_bb.planner.builtin.profiles import merge, of_properties
from pegasus_bb.planner.builtin.programs import Programs
from pegasus_bb.planner.builtin.submit import Submits
from pegasus_bb.planner.context import PlanContext
from pegasus_bb.planner.deciding import Decided
from pegasus_bb.planner.seal import BUILT_IN
from pegasus_bb.rewrite.lifecycle import DELETE, SETUP

LOCAL = "local"


def build(planning: Decided, context: PlanContext) -> Executable:
    """The executable workflow of what was read, placed and rewritten; ``complete``
    has the rest. Raises UsageError and CatalogError; neither leaves anything behind.
    """
    check_context(context, planning.catalogs)
    check_results_survive(planning.workflow, planning.graph, context)
    draft = _start(planning, context)
    _place_jobs(draft)
    _add_auxiliary(draft)
    _check_submit_files(draft)
    dag = _dag(draft)
    if _results_stay(draft):
        draft.notes.append(
            f"results stay in {draft.scratch}, which is therefore not removed at the "
            "end; --output-sites or --output-dir brings them elsewhere"
        )
    return Executable(
        planner=BUILT_IN,
        dag=dag,
        dag_name=f"{context.label}-0.dag",
        entries=lambda node: draft.jobs[node].entries or (),
        jobs_nodes=lambda: [(p.job.id, p.name) for p in draft.jobs.values() if p.job],
        users={node.name for node in draft.jobs.values() if not node.detached},
        scratch=draft.scratch,
        outputs=draft.outputs,
        jobs=draft.jobs,
        notes=draft.notes,
    )


def _start(planning: Decided, context: PlanContext) -> Draft:
    catalogs = planning.catalogs
    site = catalogs.sites.site(context.site)
    if site.scratch is None:
        raise catalogs.sites.document.error(
            f"site {site.name} has no sharedScratch directory to run in",
            ["sites", site.index, "directories"],
            would_do="add a directory of type sharedScratch",
        )
    scratch = f"{site.scratch.path.rstrip('/')}/{context.relative_dir}"
    programs = Programs(catalogs, scratch)
    known = planning.workflow, planning.graph, catalogs
    return Draft(*known, context, scratch, programs)


def _place_jobs(draft: Draft) -> None:
    """A node for every job of the workflow, and the edges between them."""
    for job in draft.workflow.jobs.values():
        check_job(draft.workflow, draft.graph, job)
        draft.names[job.id] = node_name(job)
        if not _runs_here(draft, job):
            draft.on_site.append(job)
    here = draft.workflow.jobs.keys() - {job.id for job in draft.on_site}
    draft.level.update(_levels(draft, here))
    for job in draft.workflow.jobs.values():
        site = LOCAL if job.id in here else draft.site
        level = draft.graph.level[job.id] if job.id in here else draft.level[job.id] + 1
        program = draft.programs.program(job.transformation, site, job.id)
        draft.add(
            PlannedJob(
                draft.names[job.id],
                COMPUTE,
                site,
                program,
                10 * level,
                job,
                job.arguments,
                detached=job.id in here,
            )
        )
    for ident, children in draft.graph.children.items():
        if children:
            below = [draft.names[child] for child in children]
            draft.children[draft.names[ident]] = below


def _levels(draft: Draft, here: set[str]) -> dict[str, int]:
    """Longest way from a root, counting jobs of the site alone: the names of nodes
    stay the same whether bb_setup and bb_delete are there or not."""
    level: dict[str, int] = {}
    for ident in draft.graph.order:
        highest = 0
        for parent in draft.graph.parents[ident]:
            if level[parent] > highest:
                highest = level[parent]
        level[ident] = highest + (ident not in here)
    return level


def _runs_here(draft: Draft, job: Job) -> bool:
    """Whether ``job`` runs in the submit directory on this machine."""
    profiles = job.data.get("profiles")
    if not profiles:
        return False
    said = job.profile("selector", "execution.site")
    if said is None or (said == draft.site and job.name not in (SETUP, DELETE)):
        return False
    if said != LOCAL:
        raise refused(draft.workflow, job, "it asks for another site", said)
    if job.uses:
        raise refused(
            draft.workflow,
            job,
            "a job on site local cannot have files",
            job.uses[0].lfn,
        )
    return True


def _add_auxiliary(draft: Draft) -> None:
    tool = f"{draft.context.bin}/transfer"
    transfer = draft.programs.own("pegasus::transfer", draft.site, tool)
    dirmanager = draft.programs.own("pegasus::dirmanager", draft.site, tool)
    remover = draft.programs.own("pegasus::cleanup", draft.site, tool)
    if not draft.on_site:
        raise CatalogError(
            f"no job of the workflow runs on site {draft.site}",
            file=str(draft.workflow.document.path),
            would_do="--sites with the site where its jobs run",
        )
    stage.stage_in(draft, transfer)
    cleanup.create_dir(draft, dirmanager)
    stage.stage_out(draft, transfer)
    if draft.context.cleanup == "inplace":
        cleanup.clean_up(draft, remover)
    if draft.context.cleanup != "none" and not _results_stay(draft):
        cleanup.leaf_cleanup(draft, remover)


def _check_submit_files(draft: Draft) -> None:
    """What is refused is refused now, before an old run is moved aside."""
    submits = Submits(draft.scratch, draft.catalogs, draft.context)
    for planned in draft.jobs.values():
        submits.check(planned)


def _results_stay(draft: Draft) -> bool:
    """Whether scratch is where the user will look for results."""
    return not draft.context.output_site and any(
        use.stage_out for job in draft.on_site for use in job.outputs()
    )


def _dag(draft: Draft) -> Dag:
    common = of_properties(draft.catalogs.properties)
    site = draft.catalogs.sites.site(draft.site).profiles
    maker = Nodes(draft.context)
    nodes = {}
    known: dict[tuple[int, bool], dict[str, str]] = {}
    for number, planned in enumerate(draft.jobs.values()):
        if number % JOBS_PER_FOLDER == 0:
            place = folder(number)
        planned.folder = place
        own = (planned.job.data.get("profiles") or {}) if planned.job else {}
        key = (id(planned.program), planned.detached)
        if key not in known:
            of_site = {} if planned.detached else {"dagman": site.get("dagman", {})}
            known[key] = dict(
                merge(common, of_site, planned.program.profiles).get("dagman", {})
            )
        profiles = known[key]
        if own.get("dagman"):
            profiles = {**profiles, **merge({"dagman": own["dagman"]})["dagman"]}
        nodes[planned.name] = maker.node(planned, profiles)
    throttles = max_jobs(draft.catalogs.properties)
    return Dag(nodes, draft.children, throttles, [JOBSTATE_LOG])
