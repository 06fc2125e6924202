"""Completes the submit directory that pegasus-plan wrote: the rest of bb/, and the
.dag.

In the .dag only the POST scripts of jobs with a job reservation change. Other lines are
appended, because DAGMan accepts them in any order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from operator import methodcaller
from pathlib import Path

from pegasus_bb.core.files import read_text
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.decide.job_reservations import planned_job_reservations
from pegasus_bb.model.dag.nodes import Dag, Script, submit_text
from pegasus_bb.model.dag.roles import Role, folder_nodes, of_role
from pegasus_bb.model.dag.writer import script_line
from pegasus_bb.planner.cluster_reservations import with_cluster_reservations
from pegasus_bb.planner.pegasus.exclusive_folder import change_submit_file, replace_text
from pegasus_bb.planner.pegasus.pegasus_limits import check_results
from pegasus_bb.planner.pegasus.read_submit_dir import (
    PegasusWorkflow,
    check_clusters_run,
    clusters_of,
)
from pegasus_bb.planner.rewrite.job_directives import directives_option
from pegasus_bb.planner.run_plan import RunPlan
from pegasus_bb.planner.runfiles import node_files, run_files
from pegasus_bb.planner.seal.job_reservation_rules import (
    check_job_reservations,
    has_option,
)
from pegasus_bb.runtime import inner_clusters
from pegasus_bb.runtime.inner_clusters import OUTSIDE_SCRATCH
from pegasus_bb.runtime.programs.sub_workflow import PLAN

_FOLDER = re.compile(r"^initialdir = (.*)$", re.MULTILINE)
_ARGUMENTS = re.compile(r'(EXTRA_ARGUMENTS==\\?"[^"\\]*)(\\?")')
_SHARED = re.compile(r'--bbf=[^\s"\\]+')  # the site's; that of the job includes it
_POST = re.compile(r"^SCRIPT POST (\S+) ")
_PARENTS = 50  # per line, to keep it readable
_CHMOD = "chmod_"  # begins the names of nodes that give a staged program its mode
_EXECUTABLE = re.compile(r"^executable = (.*)$", re.MULTILINE)
_ARGUMENTS_LINE = '\narguments = "'


def write_planned(
    executable: PegasusWorkflow, given: PlanningInput, run: RunPlan
) -> None:
    """Write what the submit directory lacks: the rest of bb/, and of the .dag. Raises
    CatalogError, NotSealed."""
    folder = executable.folder
    if run.request is not None:
        check_results(given, run, executable.results)
    _check_requests(executable, run)
    files = run_files(executable, given, run)
    for path, data in chain(files, node_files(executable, given, run)):
        file = folder / "bb" / path
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(data)
    if run.request is not None:
        start_outside(folder, executable.planned, run.site, executable.scratch)
    _add_options(executable, run)
    if run.request is not None and run.transfers_here:
        start_by_launch(folder, executable.planned, f"{run.bin}/launch")
    if run.jobs_travel:
        from pegasus_bb.planner.pegasus.travelling_jobs import let_travel  # few pools

        names = {name for _, name in executable.jobs_nodes()}
        nodes = [executable.planned.nodes[name] for name in sorted(names)]
        let_travel(folder, nodes, f"{run.bin}/launch", run.placement)
    _replace_dag(_planned_by_ours(executable, run))
    if run.job_reservations:
        check_job_reservations(executable.dag, folder)


def start_by_launch(folder: Path, dag: Dag, launch: str) -> None:
    """Let ``launch`` start the chmod jobs of the submit host.

    A staged program gets its mode by such a job. pegasus-plan gives it no launcher
    there, and its path is the planned one. Raises CatalogError.
    """
    for name, node in dag.nodes.items():
        if name.startswith(_CHMOD):
            change_submit_file(folder, node, partial(_by_launch, launch=launch))


def _by_launch(text: str, launch: str) -> str:
    program = _EXECUTABLE.search(text)
    if program is None or program[1] == launch or "\nuniverse = local" not in text:
        return text
    text = text.replace(program[0], f"executable = {launch}")
    return text.replace(_ARGUMENTS_LINE, f"{_ARGUMENTS_LINE}{program[1]} ")


def _planned_by_ours(executable: PegasusWorkflow, run: RunPlan) -> PegasusWorkflow:
    """A sub-workflow is planned by bin/sub_workflow, which calls its PRE script and
    then changes where its clusters start."""
    request = run.request
    if request is None:
        return executable
    nodes = dict(executable.dag.nodes)
    for name in of_role(nodes, Role.SUB_WORKFLOW):
        pre = nodes[name].pre
        found = _FOLDER.search(submit_text(executable.folder, nodes[name]))
        if pre is None or found is None:
            continue
        words = f"{PLAN} {request.prefix} {found[1]} {pre.executable} {pre.arguments}"
        ours = replace(pre, executable=f"{run.bin}/sub_workflow", arguments=words)
        nodes[name] = replace(nodes[name], pre=ours)
    return replace(executable, dag=replace(executable.dag, nodes=nodes))


def _check_requests(executable: PegasusWorkflow, run: RunPlan) -> None:
    placement = run.placement
    if placement is None or placement.job_tier.request is None:
        return
    from pegasus_bb.planner.grown_requests import with_growth
    from pegasus_bb.planner.rewrite.disk_requests import check_submit_file

    def grown(text: str, job: str) -> str:
        check_submit_file(placement, job, text)
        return with_growth(text, placement, job, run.request_growth)

    for job, name in executable.jobs_nodes():
        node = executable.planned.nodes[name]
        change_submit_file(executable.folder, node, partial(grown, job=job))


def with_clusters(
    planned: PegasusWorkflow, given: PlanningInput, run: RunPlan
) -> tuple[PegasusWorkflow, RunPlan]:
    """Mode transient: only planned jobs have reservations, and a cluster has one under
    its own name. Raises CatalogError."""
    placement = run.placement
    if placement is None or run.request is not None:
        known = clusters_of(planned) if run.predicted else {}  # reads all submit files
        return with_cluster_reservations(planned, known, given, run)
    clusters = clusters_of(planned)
    check_clusters_run(planned, clusters)
    jobs = dict(planned.jobs_nodes())
    run = run.with_placement(planned_job_reservations(placement, jobs))
    return with_cluster_reservations(planned, clusters, given, run)


def start_outside(folder: Path, dag: Dag, site: str, scratch: str) -> None:
    """Make the leaf cleanup of ``site``, and clusters, start where create_dir does.

    The cleanup's Kickstart would change to the folder that it removes, which a retry
    would not find. For a cluster HTCondor itself, or blahp, would change to the planned
    prefix, which does not exist; the Kickstart of each task changes the folder anyway.
    """
    for name in folder_nodes(dag.nodes, Role.LEAF_CLEANUP, site):
        of_leaf = methodcaller("replace", f" -w {scratch} ", f" -w {OUTSIDE_SCRATCH} ")
        change_submit_file(folder, dag.nodes[name], of_leaf)
    for name in of_role(dag.nodes, Role.CLUSTER):
        of_run = partial(inner_clusters.start_outside, folder=scratch)
        change_submit_file(folder, dag.nodes[name], of_run)


def _add_options(planned: PegasusWorkflow, run: RunPlan) -> None:
    """Give sbatch the directives of each job with a job reservation.

    If the site, its programs or the properties have glite.arguments too, pegasus-plan
    writes those instead of the job's.
    """
    placement = run.placement
    if placement is None or not placement.job_tier.kind.is_slurm:
        return
    for job, name, _ in planned.reserved_nodes(run):
        option = directives_option(run.submit_dir, job)
        of_job = partial(_with_option, option=option)
        change_submit_file(planned.folder, planned.dag.nodes[name], of_job)


def _with_option(text: str, option: str) -> str:
    if has_option(text, option):
        return text
    changed, shared = _SHARED.subn(option, text)
    return changed if shared else _ARGUMENTS.sub(rf"\1 {option}\2", text)


def _replace_dag(executable: PegasusWorkflow) -> None:
    planned = executable.planned
    file = executable.folder / executable.dag_name
    text = read_text(file)
    text = _with_posts(text, planned, executable.dag)
    added = added_lines(planned, executable.dag)
    end = "" if text.endswith("\n") else "\n"
    text += end + "".join(f"{line}\n" for line in added)
    replace_text(file, text)


def added_lines(dag: Dag, complete: Dag) -> list[str]:
    """The gate and the edges that ``complete`` has and ``dag`` lacks."""
    return [*_gates(dag, complete), *_edges(dag, complete)]


def _with_posts(text: str, dag: Dag, complete: Dag) -> str:
    """``text`` with the new POST scripts in place of the old ones."""
    changed = {
        name: _post_lines(name, node.post)
        for name, node in complete.nodes.items()
        if node.post is not None and node.post is not dag.nodes[name].post
    }
    if not changed:
        return text
    return "\n".join(_line(line, changed) for line in text.split("\n"))


def _post_lines(node: str, script: Script) -> str:
    """Two lines: DAGMan uses the later one, monitord understands only the first.
    Without it, monitord reads the record of the node twice, and may crash."""
    plain = replace(script, defer_status=None)
    return "\n".join(script_line("POST", node, each) for each in (plain, script))


def _line(line: str, changed: dict[str, str]) -> str:
    match = _POST.match(line)
    return changed.get(match[1], line) if match else line


def _gates(dag: Dag, complete: Dag) -> Iterator[str]:
    for name, node in complete.nodes.items():
        pre = node.pre
        if pre is not None and dag.nodes[name].pre != pre:
            yield script_line("PRE", name, pre)
            before = dag.nodes[name].retry, dag.nodes[name].unless_exit
            if (node.retry, node.unless_exit) != before:
                yield f"RETRY {name} {node.retry}"


def _edges(dag: Dag, complete: Dag) -> Iterator[str]:
    added: dict[str, list[str]] = {}
    for parent, children in complete.children.items():
        for child in children[len(dag.children.get(parent, ())) :]:
            added.setdefault(child, []).append(parent)
    for child, parents in added.items():
        for first in range(0, len(parents), _PARENTS):
            names = " ".join(parents[first : first + _PARENTS])
            yield f"PARENT {names} CHILD {child}"
