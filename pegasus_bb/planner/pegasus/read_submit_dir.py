"""Reads the submit directory that pegasus-plan has written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pegasus_bb.core.errors import CatalogError, NothingToRun
from pegasus_bb.core.paths import is_below
from pegasus_bb.model.dag.joblists import JobLists, job_lists, path_of
from pegasus_bb.model.dag.nodes import Dag, list_text, submit_text
from pegasus_bb.model.dag.reader import read_dag
from pegasus_bb.model.dag.roles import Role, folder_nodes, of_role
from pegasus_bb.model.document import parse
from pegasus_bb.planner.run_plan import RunPlan
from pegasus_bb.planner.seal.sealed_directory import buffer_users_in_doubt
from pegasus_bb.planner.seal.sealing import ExecutableWorkflow

_JOB = re.compile(r'^\+pegasus_wf_dax_job_id = "([^"\n]+)"', re.MULTILINE)
_RUN_BY = re.compile(r'^\+pegasus_wf_xformation = "([^"\n]+)"', re.MULTILINE)
_SEQEXEC = "pegasus::seqexec"  # pegasus-cluster
_TASK = re.compile(r"^#@ \d+ \S+ (\S+)", re.MULTILINE)  # in the list of a cluster


@dataclass(frozen=True, kw_only=True)
class PegasusWorkflow(ExecutableWorkflow):
    folder: Path
    planned: Dag  # as pegasus-plan wrote it
    printed: bytes = b""  # by pegasus-plan
    results: Set[str]  # LFNs of all that is staged out, from anywhere


def read_planned(run: RunPlan) -> PegasusWorkflow:
    """The workflow that pegasus-plan wrote. Raises CatalogError, NothingToRun."""
    folder = run.submit_dir
    request = run.request
    name, version = _braindump(folder)
    if not (folder / name).is_file():
        raise CatalogError("pegasus-plan left no .dag", str(folder / name))
    dag = read_dag(folder / name)
    if request is not None:
        _check_runs_something(dag)
    entries = job_lists(dag, folder)
    users: Set[str] = frozenset()
    outputs: dict[str, str] = {}
    scratch = run.transient.prefix if run.transient else ""
    if request is not None:
        gate = f"{run.bin}/gate"
        users = buffer_users_in_doubt(dag, folder, request, gate)
        staged = stage_outs(dag.nodes, entries, request.prefix)
        outputs = result_urls(staged, str(folder / name))
        scratch = _scratch(dag, run.site, entries, str(folder / name))
    return PegasusWorkflow(
        planner=f"pegasus-plan {version}",
        dag=dag,
        dag_name=name,
        entries=entries,
        jobs_nodes=cache(lambda: list(nodes_of_jobs(folder, dag))),
        users=users,
        scratch=scratch,
        outputs=outputs,
        folder=folder,
        planned=dag,
        results=stage_outs(dag.nodes, entries).keys() if request else frozenset(),
    )


def _check_runs_something(dag: Dag) -> None:
    """Raises NothingToRun if no node that pegasus-plan wrote is a task of the user:
    each result exists already, or is not to be staged out."""
    if not of_role(dag.nodes, Role.TASK, Role.CLUSTER, Role.SUB_WORKFLOW):
        raise NothingToRun(
            "pegasus-plan leaves out every job: each result exists already, or none is "
            "to be staged out; nothing would run on the buffer"
        )


def _braindump(folder: Path) -> tuple[str, str]:
    file = folder / "braindump.yml"
    try:
        braindump = parse(file.read_text(encoding="utf-8"), file)
        return str(braindump["dag"]), str(braindump["planner_version"])
    except (OSError, KeyError, TypeError) as error:
        raise CatalogError(
            f"does not say what was planned ({error})",
            str(file),
            would_do="a Pegasus 5.1",
        ) from error


def _scratch(dag: Dag, site: str, entries: JobLists, file: str) -> str:
    """The folder that create_dir makes; empty without exactly one create_dir, which
    sealing refuses. Raises CatalogError."""
    gated = folder_nodes(dag.nodes, Role.CREATE_DIR, site)
    return scratch_of(gated[0], entries, file) if len(gated) == 1 else ""


def stage_outs(
    names: Iterable[str], entries: JobLists, prefix: str = ""
) -> dict[str, list[str]]:
    """LFN -> the URLs that the workflow's stage-out jobs copy it to.

    With ``prefix``, only files from below that: a reused result of an earlier run was
    never there, and Pegasus's own program copies it.
    """
    urls_of: dict[str, list[str]] = {}
    for name in of_role(names, Role.STAGE_OUT):
        for entry in entries(name):
            if _comes_from(prefix, entry):
                urls = [str(dest["url"]) for dest in entry.get("dest_urls", ())]
                urls_of.setdefault(str(entry.get("lfn")), []).extend(urls)
    return urls_of


def _comes_from(prefix: str, entry: Mapping[str, Any]) -> bool:
    paths = [path_of(str(source.get("url"))) for source in entry.get("src_urls", ())]
    return not (prefix and paths) or any(is_below(path, prefix) for path in paths)


def result_urls(stage_outs: Mapping[str, Iterable[str]], file: str) -> dict[str, str]:
    """LFN -> the file:// URL where bb_delete will look for it. ``file`` is the DAG's.
    Raises CatalogError."""
    places: dict[str, str] = {}
    for lfn, urls in stage_outs.items():
        here = next(
            (url for url in urls if url.partition(":")[0].lower() == "file"), None
        )
        if here is None:
            raise CatalogError(
                f"the result {lfn} is staged out to where bb_delete cannot look, so "
                "the buffer would never be given back",
                file,
                found=", ".join(urls),
                would_do="an output site with a file:// URL beside or instead of it",
            )
        places[lfn] = here
    return places


def scratch_of(create_dir: str, entries: JobLists, file: str) -> str:
    """The folder that the create_dir job makes. Raises CatalogError."""
    for entry in entries(create_dir):
        if entry.get("type") == "mkdir":
            return path_of(str(entry["target"]["url"]))
    what = f"{create_dir} makes no directory"
    raise CatalogError(what, file, would_do="plan again")


def nodes_of_jobs(folder: Path, dag: Dag) -> Iterator[tuple[str, str]]:
    """(id of a job of the workflow, the node that runs it), also for clustered jobs."""
    for node in dag.nodes.values():
        match = _JOB.search("" if node.kind == "SUBDAG" else submit_text(folder, node))
        if match and match[1] != "null":
            yield match[1], node.name
        for task in _TASK.findall(list_text(folder, node)):
            yield task, node.name


def clusters_of(planned: PegasusWorkflow) -> dict[str, list[str]]:
    """Each node with several jobs -> the ids of these, in the order in which they
    run."""
    jobs_of: dict[str, list[str]] = {}
    for job, node in planned.jobs_nodes():
        jobs_of.setdefault(node, []).append(job)
    return {name: jobs for name, jobs in jobs_of.items() if len(jobs) > 1}


def check_clusters_run(planned: PegasusWorkflow, clusters: Iterable[str]) -> None:
    """Raises CatalogError if another program than pegasus-cluster runs one of
    ``clusters``."""
    for name in clusters:
        merged = planned.dag.nodes[name]
        match = _RUN_BY.search(submit_text(planned.folder, merged))
        program = match[1] if match else "nothing"
        if program != _SEQEXEC:
            raise CatalogError(
                f"cluster {name} would have a reservation of its own, and only one "
                "that pegasus-cluster runs can",
                str(merged.file(planned.folder)),
                found=program,
                would_do="pegasus.job.aggregator = seqexec, or --bb-mode persistent",
            )
