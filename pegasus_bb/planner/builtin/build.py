"""From the rewritten workflow to an executable one. Reads no clock, writes nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pegasus_bb.core.errors import UnplacedError
from pegasus_bb.model.dag.nodes import JOBSTATE_LOG, Dag, Node, Script
from pegasus_bb.model.dag.roles import Role, node_word
from pegasus_bb.model.dag.writer import check_node
from pegasus_bb.model.default_sites import LOCAL
from pegasus_bb.model.settings import PREFIX, Properties
from pegasus_bb.model.value_lines import ValueLines
from pegasus_bb.model.workflow import OWN_RUN, Job
from pegasus_bb.planner.builtin.argument_words import task_words
from pegasus_bb.planner.builtin.auxiliary import add_auxiliary, results_stay
from pegasus_bb.planner.builtin.executable import (
    COMPUTE,
    BuiltInExecutable,
    Draft,
    PlannedJob,
    Programs,
    RewrittenWorkflow,
    node_name,
)
from pegasus_bb.planner.builtin.planner_limits import (
    check_job,
    check_results_survive,
    check_run,
    unsupported,
)
from pegasus_bb.planner.builtin.profiles import REAL_PLANNER, merge, of_properties
from pegasus_bb.planner.omissions import check_settings
from pegasus_bb.planner.rewrite.lifecycle import DELETE, SETUP
from pegasus_bb.planner.run_plan import RunPlan
from pegasus_bb.planner.seal.view import BUILT_IN

JOBS_PER_FOLDER = 1000
# As pegasus-plan writes them by default.
_MAX_JOBS = {"cleanup": 4, "registration": 1, "stageout": 10, "stagein": 10}
_RETRY = 1
_VARS = {"My.DAGNodeRetry": "$(RETRY)"}
_KNOWN = {"RETRY", "PRIORITY", "CATEGORY", "PRE", "PRE.ARGUMENTS", "ABORT-DAG-ON"}
_ABORT = re.compile("([0-9]{1,9})(?: +RETURN +([0-9]{1,9}))?", re.IGNORECASE)
_POST = {"POST", "POST.ARGUMENTS", "POST.SCOPE"}


def build(rewritten: RewrittenWorkflow, run: RunPlan) -> BuiltInExecutable:
    """The executable workflow of the ``rewritten`` inputs; ``complete`` adds the rest.

    Raises UsageError and CatalogError.
    """
    check_run(run)
    check_settings(rewritten.workflow, rewritten.catalogs, run.site)
    if run.placement and run.request and not run.output_sites:
        check_results_survive(rewritten.workflow, run.placement)
    draft = _start(rewritten, run)
    _place_jobs(draft)
    if not draft.on_site and not draft.runs and not run.may_run_here:
        raise draft.workflow.document.error(
            f"no job of the workflow runs on site {draft.site}",
            ["jobs"],
            would_do="--sites with the site where its jobs run",
        )
    if draft.on_site:
        add_auxiliary(draft)
    notes: list[str] = []
    runs: Mapping[str, Any] = {}
    if draft.runs:
        from pegasus_bb.planner.builtin.own_runs import planned_runs, run_notes

        runs = planned_runs(draft)
        notes += run_notes(draft)
    mode = draft.catalogs.properties.get(f"{PREFIX}mode", "off")
    if not draft.on_site and mode != "off":
        notes.append(
            f"no job of this workflow itself runs on site {run.site}, so it uses no "
            f"tier: mode {mode} is that of its sub-workflows"
        )
    if run.clusters:
        from pegasus_bb.planner.builtin.cluster_choice import cluster_notes

        notes += cluster_notes(draft)
    if results_stay(draft):
        notes.append(
            f"results stay in {draft.scratch}, which is therefore not removed at the "
            "end; --output-sites or --output-dir brings them elsewhere"
        )
    return BuiltInExecutable(
        planner=BUILT_IN,
        dag=_dag(draft),
        dag_name=f"{run.label}-0.dag",
        entries=lambda node: draft.jobs[node].entries or (),
        jobs_nodes=lambda: [
            (job.id, node.name) for node in draft.jobs.values() for job in node.jobs
        ],
        users={node.name for node in draft.jobs.values() if not node.detached},
        scratch=draft.scratch,
        outputs=draft.outputs,
        rewritten=rewritten,
        jobs=draft.jobs,
        notes=notes,
        runs=runs,
    )


def _start(rewritten: RewrittenWorkflow, run: RunPlan) -> Draft:
    catalogs = rewritten.catalogs
    site = catalogs.sites.site(run.site)
    if site.scratch is None:
        raise catalogs.sites.document.error(
            f"site {site.name} has no sharedScratch directory to run in",
            ["sites", site.index, "directories"],
            would_do="add a directory of type sharedScratch",
        )
    scratch = f"{site.scratch.path.rstrip('/')}/{run.relative_dir}"
    places = ValueLines(rewritten.workflow, catalogs)
    programs = Programs(places, scratch)
    known = rewritten.workflow, rewritten.graph, catalogs
    return Draft(*known, run, scratch, programs, places)


def _place_jobs(draft: Draft) -> None:
    for job in draft.workflow:
        check_job(draft.workflow, draft.graph, job)
        is_ours = job.name in (SETUP, DELETE) and draft.run.request is not None
        name = node_name(job, is_ours=is_ours)
        if job.kind == OWN_RUN:
            name = node_word(f"{Role.SUB_WORKFLOW.value}_{job.name}_{job.id}")
            draft.runs[name] = job
            made = (use.lfn for use in job.passed if use.kind == "output")
            draft.from_runs.update(dict.fromkeys(made, name))
        draft.names[job.id] = name
        if not _is_local(draft, job):
            draft.on_site.append(job)
    local_jobs = draft.workflow.jobs.keys() - {job.id for job in draft.on_site}
    draft.level.update(_levels(draft, local_jobs))
    own_names = dict(draft.names)
    clusters: Mapping[str, Sequence[Job]] = {}
    if draft.run.clusters:
        from pegasus_bb.planner.builtin.cluster_choice import join_jobs

        clusters = join_jobs(draft, local_jobs)
    tasks: dict[str, PlannedJob] = {}
    for job in draft.workflow:
        is_local = job.id in local_jobs
        site = LOCAL if is_local else draft.site
        level = draft.graph.level[job.id] if is_local else draft.level[job.id] + 1
        name = own_names[job.id]
        if job.kind == OWN_RUN:
            from pegasus_bb.planner.builtin.own_runs import run_node

            draft.add(run_node(draft, name, job, 10 * level))
            continue
        program = draft.programs.program(job.transformation, site, job.id)
        planned = PlannedJob(name, COMPUTE, site, program, 10 * level, job)
        planned.profiles = job.profiles
        with draft.places.placed(*planned.origin):
            planned.arguments = task_words(job.arguments, job.id)
        planned.on_submit_host = planned.detached = is_local
        if draft.names[job.id] in clusters:
            tasks[job.id] = planned
        else:
            draft.add(planned)
    for name, jobs in clusters.items():
        from pegasus_bb.planner.builtin.cluster_nodes import cluster_node

        draft.add(cluster_node(draft, name, [tasks[job.id] for job in jobs]))
    _add_edges(draft)


def _add_edges(draft: Draft) -> None:
    """The edges between jobs; those inside a cluster are the order of its tasks."""
    names = draft.names
    below: dict[str, dict[str, None]] = {}
    for ident, children in draft.graph.children.items():
        if children:
            of_node = below.setdefault(names[ident], {})
            of_node.update(dict.fromkeys(names[child] for child in children))
    for name, of_node in below.items():
        of_node.pop(name, None)
        if of_node:
            draft.children[name] = list(of_node)


def _levels(draft: Draft, local_jobs: set[str]) -> dict[str, int]:
    level: dict[str, int] = {}
    for ident in draft.graph.order:
        highest = 0
        for parent in draft.graph.parents[ident]:
            if level[parent] > highest:
                highest = level[parent]
        level[ident] = highest + (ident not in local_jobs)
    return level


def _is_local(draft: Draft, job: Job) -> bool:
    if job.kind == OWN_RUN:
        return True
    site = job.profile("selector", "execution.site")
    if site is None:
        programs = draft.catalogs.transformations
        return draft.run.may_run_here and job.is_only_local(programs, draft.site)
    if site == draft.site and job.name not in (SETUP, DELETE):
        return False
    if site != LOCAL:
        raise unsupported(draft.workflow, job, "it asks for another site", site)
    if job.uses:
        why = "a job on site local cannot have files"
        raise unsupported(draft.workflow, job, why, job.uses[0].lfn)
    return True


def _dag(draft: Draft) -> Dag:
    common = of_properties(draft.catalogs.properties)
    site = draft.site_profiles
    exitcode = f"{draft.run.bin}/exitcode"
    arguments = f"-r $RETURN {draft.run.submit_dir}/"
    nodes = {}
    known: dict[tuple[int, bool], Mapping[str, str]] = {}
    for number, planned in enumerate(draft.jobs.values()):
        if number % JOBS_PER_FOLDER == 0:
            part = number // JOBS_PER_FOLDER
            folder = f"{part // 256:02X}/{part % 256:02X}"
        planned.folder = folder
        own = planned.profiles
        key = (id(planned.program), planned.detached)
        out = f"{arguments}{planned.folder}/{planned.name}.out"
        with draft.places.placed(*planned.origin):
            if key not in known:
                of_site = {} if planned.detached else {"dagman": site.get("dagman", {})}
                merged = merge(common, of_site, planned.program.profiles)
                known[key] = merged.get("dagman", {})
            profiles = known[key]
            if own.get("dagman"):
                profiles = {**profiles, **merge({"dagman": own["dagman"]})["dagman"]}
            nodes[planned.name] = _node(planned, Script(exitcode, out), profiles)
    throttles = _max_jobs(draft.catalogs.properties)
    return Dag(nodes, draft.children, throttles, [JOBSTATE_LOG])


def _node(planned: PlannedJob, post: Script, profiles: Mapping[str, str]) -> Node:
    """Raises UnplacedError for a profile that the node cannot have."""
    node = Node(
        planned.name,
        f"{planned.folder}/{planned.name}.sub",
        post=post,
        retry=_RETRY,
        priority=planned.priority,
        category=planned.role.category,
        vars=_VARS,
    )
    if profiles:
        _apply(node, planned, profiles)
        check_node(node, ("profiles", "dagman"))
    return node


def _apply(node: Node, planned: PlannedJob, profiles: Mapping[str, str]) -> None:
    _refuse(planned, profiles)
    if "RETRY" in profiles:
        node.retry = _number(profiles, "RETRY", 0)
    if planned.role is not COMPUTE:  # scripts and categories of tasks are not for it
        return
    if "PRIORITY" in profiles:
        node.priority = _number(profiles, "PRIORITY", -(10**9))
    node.category = profiles.get("CATEGORY", node.category)
    if "PRE" in profiles:
        node.pre = Script(profiles["PRE"], profiles.get("PRE.ARGUMENTS", ""))
    if "ABORT-DAG-ON" in profiles:
        node.abort_on = _abort_on(profiles["ABORT-DAG-ON"])


def _refuse(planned: PlannedJob, profiles: Mapping[str, str]) -> None:
    for key in profiles:
        if key in _POST or (key.startswith("PRE") and planned.role is not COMPUTE):
            why = "this place is taken: the planner needs it for a script of its own"
        elif key not in _KNOWN:
            why = "the built-in planner does not know it"
        else:
            continue
        raise UnplacedError(
            f"the dagman profile {key} cannot be kept on {planned.name}: {why}",
            ("profiles", "dagman", key),
            profiles[key],
            f"remove it, or {REAL_PLANNER}",
        )


def _abort_on(text: str) -> tuple[int, int | None]:
    match = _ABORT.fullmatch(text.strip())
    if match is None:
        raise UnplacedError(
            "not an exit status to abort on",
            ("profiles", "dagman", "ABORT-DAG-ON"),
            text,
            "such as 3, or 3 RETURN 1",
        )
    return int(match[1]), int(match[2]) if match[2] else None


def _max_jobs(properties: Properties) -> dict[str, int]:
    """Throttles per category: Pegasus's defaults, and dagman.<category>.maxjobs."""
    throttles = dict(_MAX_JOBS)
    for key in properties:
        parts = key.split(".")
        if len(parts) == 3 and parts[0] == "dagman" and parts[2].lower() == "maxjobs":
            try:
                throttles[parts[1]] = _number(properties, key, 1)
            except UnplacedError as error:
                raise properties.error(key, error.what, error.would_do) from error
    return throttles


def _number(values: Mapping[str, str], key: str, least: int) -> int:
    text = values[key].strip()
    if re.fullmatch("-?[0-9]{1,9}", text) is None or int(text) < least:
        at = ("profiles", "dagman", key)
        raise UnplacedError(
            f"{key} is a whole number", at, text, f"{key}: {max(least, 3)}"
        )
    return int(text)
