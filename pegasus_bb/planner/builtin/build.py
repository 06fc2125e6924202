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
from pegasus_bb.planner.builtin.executable import COMPUTE, Executable, PlannedJob
from pegasus_bb.planner.builtin.names import JOBS_PER_FOLDER, folder, node_name
from pegasus_bb.planner.builtin.plan import Plan
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
    plan = _start(planning, context)
    _place_jobs(plan)
    _add_auxiliary(plan)
    _check_submit_files(plan)
    dag = _dag(plan)
    if _results_stay(plan):
        plan.notes.append(
            f"results stay in {plan.scratch}, which is therefore not removed at the "
            "end; --output-sites or --output-dir brings them elsewhere"
        )
    return Executable(
        planner=BUILT_IN,
        dag=dag,
        dag_name=f"{context.label}-0.dag",
        entries=lambda node: plan.jobs[node].entries or (),
        jobs_nodes=lambda: [(p.job.id, p.name) for p in plan.jobs.values() if p.job],
        users={node.name for node in plan.jobs.values() if not node.detached},
        scratch=plan.scratch,
        outputs=plan.outputs,
        jobs=plan.jobs,
        notes=plan.notes,
    )


def _start(planning: Decided, context: PlanContext) -> Plan:
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
    return Plan(*known, context, scratch, programs)


def _place_jobs(plan: Plan) -> None:
    """A node for every job of the workflow, and the edges between them."""
    for job in plan.workflow.jobs.values():
        check_job(plan.workflow, plan.graph, job)
        plan.names[job.id] = node_name(job)
        if not _runs_here(plan, job):
            plan.on_site.append(job)
    here = plan.workflow.jobs.keys() - {job.id for job in plan.on_site}
    plan.level.update(_levels(plan, here))
    for job in plan.workflow.jobs.values():
        site = LOCAL if job.id in here else plan.site
        level = plan.graph.level[job.id] if job.id in here else plan.level[job.id] + 1
        program = plan.programs.program(job.transformation, site, job.id)
        plan.add(
            PlannedJob(
                plan.names[job.id],
                COMPUTE,
                site,
                program,
                10 * level,
                job,
                job.arguments,
                detached=job.id in here,
            )
        )
    for ident, children in plan.graph.children.items():
        if children:
            below = [plan.names[child] for child in children]
            plan.children[plan.names[ident]] = below


def _levels(plan: Plan, here: set[str]) -> dict[str, int]:
    """Longest way from a root, counting jobs of the site alone: the names of nodes
    stay the same whether bb_setup and bb_delete are there or not."""
    level: dict[str, int] = {}
    for ident in plan.graph.order:
        highest = 0
        for parent in plan.graph.parents[ident]:
            if level[parent] > highest:
                highest = level[parent]
        level[ident] = highest + (ident not in here)
    return level


def _runs_here(plan: Plan, job: Job) -> bool:
    """Whether ``job`` runs in the submit directory on this machine."""
    profiles = job.data.get("profiles")
    if not profiles:
        return False
    said = job.profile("selector", "execution.site")
    if said is None or (said == plan.site and job.name not in (SETUP, DELETE)):
        return False
    if said != LOCAL:
        raise refused(plan.workflow, job, "it asks for another site", said)
    if job.uses:
        raise refused(
            plan.workflow, job, "a job on site local cannot have files", job.uses[0].lfn
        )
    return True


def _add_auxiliary(plan: Plan) -> None:
    tool = f"{plan.context.bin}/transfer"
    transfer = plan.programs.own("pegasus::transfer", plan.site, tool)
    dirmanager = plan.programs.own("pegasus::dirmanager", plan.site, tool)
    remover = plan.programs.own("pegasus::cleanup", plan.site, tool)
    if not plan.on_site:
        raise CatalogError(
            f"no job of the workflow runs on site {plan.site}",
            file=str(plan.workflow.document.path),
            would_do="--sites with the site where its jobs run",
        )
    stage.stage_in(plan, transfer)
    cleanup.create_dir(plan, dirmanager)
    stage.stage_out(plan, transfer)
    if plan.context.cleanup == "inplace":
        cleanup.clean_up(plan, remover)
    if plan.context.cleanup != "none" and not _results_stay(plan):
        cleanup.leaf_cleanup(plan, remover)


def _check_submit_files(plan: Plan) -> None:
    """Whatever is refused is refused now, before anybody makes room for files."""
    submits = Submits(plan.scratch, plan.catalogs, plan.context)
    for planned in plan.jobs.values():
        submits.check(planned)


def _results_stay(plan: Plan) -> bool:
    """Whether scratch is where the user will look for results."""
    return not plan.context.output_site and any(
        use.stage_out for job in plan.on_site for use in job.outputs()
    )


def _dag(plan: Plan) -> Dag:
    common = of_properties(plan.catalogs.properties)
    site = plan.catalogs.sites.site(plan.site).profiles
    maker = Nodes(plan.context)
    nodes = {}
    known: dict[tuple[int, bool], dict[str, str]] = {}
    for number, planned in enumerate(plan.jobs.values()):
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
    throttles = max_jobs(plan.catalogs.properties)
    return Dag(nodes, plan.children, throttles, [JOBSTATE_LOG])
