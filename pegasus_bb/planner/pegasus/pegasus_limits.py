"""Refuses what pegasus-plan would plan in a way that does not work on a buffer."""

from __future__ import annotations

from collections.abc import Iterator, Set

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import format_count
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.decide.sizing import example_option, wanted_capacity
from pegasus_bb.model.dag.blahp import GRID
from pegasus_bb.model.dag.roles import Role, role_of
from pegasus_bb.model.default_sites import LOCAL
from pegasus_bb.model.placement import PFS, Placement
from pegasus_bb.model.settings import AUTO
from pegasus_bb.model.workflow import Job, Workflow
from pegasus_bb.planner.rewrite.pass_input import Inputs, profile_settings
from pegasus_bb.planner.run_plan import RunPlan

# Options of a sub-workflow's own planning that would move its jobs off the buffer.
_OFF_THE_BUFFER = ("--relative-dir", "--randomdir")
# One of them has the results of a sub-workflow staged out.
_STAGES_OUT = ("--output", "-o", "-O")
_CLUSTERS = ("--cluster", "-C")
_POST = "-ddagman.post"  # in any case of letters, as pegasus-plan takes it
_KICKSTART = "gridstart.path"


def check_styles(given: PlanningInput, placement: Placement) -> None:
    """Raises CatalogError for an HTCondor pool: its jobs are no Slurm jobs and get no
    buffer."""
    site = given.site
    for tier in (placement.tier, placement.job_tier):
        if tier.kind.is_slurm and site.style not in GRID:
            raise given.catalogs.sites.document.error(
                "a DataWarp buffer is mounted for jobs of the batch system alone, and "
                "with this style jobs do not reach it through blahp",
                ["sites", site.index, "profiles", "pegasus", "style"],
                site.style,
                "style: glite, and the condor profile grid_resource: batch slurm",
            )


def check_passed(passed: tuple[str, ...]) -> None:
    """Raises UsageError for an option that renames nodes."""
    if "--job-prefix" in passed:
        raise UsageError(
            "--job-prefix renames every node, and create_dir, bb_setup and "
            "bb_delete are found by their names; leave it out, or plan with "
            "--bb-mode off"
        )


def check_node_names(workflow: Workflow) -> None:
    """Raises CatalogError for a job whose node would be taken for pegasus-plan's own:
    the seal knows those by their names."""
    for job in workflow:
        role = role_of(f"{job.name}_{job.id}")
        if job.kind == "job" and role not in (Role.TASK, Role.CLUSTER):
            raise workflow.job_error(
                job,
                f"pegasus-plan would call the node of job {job.id} "
                f"{job.name}_{job.id}, like a node of its own ({role.value})",
                job.name,
                "another name of the transformation, --bb-planner builtin, or "
                "--bb-mode off",
                "name",
            )


def check_kickstart(inputs: Inputs, site: str) -> None:
    """Raises CatalogError for a program in the place of Kickstart, whose record says
    how a task ended."""
    what = "every task would run under this program, and only Kickstart's record "
    what += "says how it ended"
    would_do = "take it out, or name a pegasus-kickstart"
    # bb_setup and bb_delete are on local
    for profile in profile_settings(inputs, _KICKSTART, site, LOCAL):
        if not _is_kickstart(profile.value):
            raise profile.error(what, would_do)
    key = f"pegasus.{_KICKSTART}"
    if key in inputs.properties and not _is_kickstart(inputs.properties[key]):
        raise inputs.properties.error(key, what, would_do)


def _is_kickstart(program: str) -> bool:
    return program.rpartition("/")[2] == "pegasus-kickstart"


def check_sub_workflows(given: PlanningInput, placement: Placement) -> list[str]:
    """Notes on sub-workflows. Raises CatalogError for those that would not work."""
    inner = [job for job in given.workflow if job.kind != "job"]
    for job in inner:
        _check_kind(given.workflow, job)
        _check_arguments(given.workflow, job)
        _check_stages_out(given.workflow, job)
    if not inner:
        return []
    _check_sizes(given, placement, inner[0])
    return [
        f"the reservation is shared with {format_count(len(inner), 'sub-workflow')}; "
        "results made there are as safe as their stage-out says, for bb_delete can "
        "check those of this workflow only"
    ]


def _check_kind(workflow: Workflow, job: Job) -> None:
    if job.kind != "pegasusWorkflow":
        raise workflow.job_error(
            job,
            "no planner plans the jobs of a DAG that is given as it is, so they would "
            "not find the buffer",
            job.kind,
            "type: pegasusWorkflow, or --bb-mode off",
            "type",
        )


def _check_arguments(workflow: Workflow, job: Job) -> None:
    for place, argument in enumerate(job.arguments):
        for word in argument.split():
            if word.lower().startswith(_POST):
                raise workflow.job_error(
                    job,
                    "a POST script decides whether a job succeeded: without that of "
                    "pegasus-plan failures of the sub-workflow could count as success",
                    argument,
                    "leave it out, or --bb-mode off",
                    "arguments",
                    place,
                )
            if word.startswith(_OFF_THE_BUFFER):
                raise workflow.job_error(
                    job,
                    f"with {word.partition('=')[0]} of its own the sub-workflow would "
                    "not run on the buffer, where its inputs are",
                    argument,
                    "leave it out, or --bb-mode off",
                    "arguments",
                    place,
                )


def _check_stages_out(workflow: Workflow, job: Job) -> None:
    """pegasus-plan does not give our --output-sites to the planning of a sub-workflow:
    its results stay on the scratch, but for those that the job declares."""
    options = (word for argument in job.arguments for word in argument.split())
    if not any(job.outputs()) and not any(w.startswith(_STAGES_OUT) for w in options):
        raise workflow.job_error(
            job,
            "no job stages the results of this sub-workflow out, so they would vanish "
            "with the burst buffer",
            job.name,
            "--output-sites local (and --output-dir FOLDER) among its arguments, its "
            "results among its uses, or --bb-mode off",
        )


def _check_sizes(given: PlanningInput, placement: Placement, job: Job) -> None:
    workflow = given.workflow
    if wanted_capacity(placement.tier, given.settings) == AUTO:
        raise workflow.job_error(
            job,
            "an automatic capacity needs the size of every file, and those of a "
            "sub-workflow are not known before it is planned",
            job.name,
            f"say how much to reserve, such as {example_option(placement.tier)}",
        )
    homes = [
        f.lfn for f in placement.files.values() if f.how == "write" and f.tier == PFS
    ]
    if homes:
        raise workflow.job_error(
            job,
            "files that tasks write to the PFS through links are found by the names of "
            "nodes, and a sub-workflow may use a name again",
            ", ".join(homes[:3]),
            "outputs and intermediate files on the tier, or --bb-mode off",
        )


def check_results(given: PlanningInput, run: RunPlan, results: Set[str]) -> None:
    """Raises CatalogError for a result that is not staged out. pegasus-plan may leave
    out results that exist (data reuse), and those that a sub-workflow makes."""
    placement = run.placement
    reused = {} if run.force else given.catalogs.replicas.replicas
    for job in given.workflow:
        for use in job.outputs() if job.kind == "job" else ():
            if not use.stage_out or use.lfn in results or use.lfn in reused:
                continue
            if placement is not None and placement.on_tier(use.lfn):
                raise given.workflow.job_error(
                    job,
                    f"the result {use.lfn!r} of job {job.id} would vanish with the "
                    "burst buffer: no stage-out job takes it away",
                    use.lfn,
                    "--output-sites local or --output-dir FOLDER",
                    "uses",
                )


def without_clusters(passed: tuple[str, ...]) -> Iterator[str]:
    """Yield ``passed`` without an option of clusters, which planning has read."""
    words = iter(passed)
    for word in words:
        if word in _CLUSTERS:
            next(words)
        else:
            yield word


def check_clusters(passed: tuple[str, ...], mode: str) -> None:
    """Raises UsageError if clustering would join jobs that have job reservations."""
    for word in passed:
        if word.partition("=")[0] in _CLUSTERS:
            raise UsageError(
                f"{word}: a cluster of jobs is one job of the batch system, and in "
                f"mode {mode} a job has a reservation for its own files; leave it "
                "out, or plan with --bb-mode transient or persistent"
            )
