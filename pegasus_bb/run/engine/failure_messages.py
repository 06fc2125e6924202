"""The messages about a run that has failed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.core.units import format_size
from pegasus_bb.model.dag.nodes import Dag, Script
from pegasus_bb.model.dag.reader import read_dag
from pegasus_bb.run.engine.causes import last_lines
from pegasus_bb.run.engine.dagman.job_ends import SlurmEnds
from pegasus_bb.run.engine.evidence import (
    evidence,
    inner_dag,
    job_files,
    refused_submission,
    stage_out_log,
)
from pegasus_bb.run.engine.failed_run import FailedRun, unreleased_note
from pegasus_bb.run.engine.jobstate_log import ended, read_history
from pegasus_bb.run.engine.kept_folders import kept_folders
from pegasus_bb.run.engine.node_table import NodeEntry, NodeState, NodeTable
from pegasus_bb.run.engine.nodestates import table_now
from pegasus_bb.run.engine.nothing_lost import loses_nothing
from pegasus_bb.run.engine.rescue import read_failed, read_rescue
from pegasus_bb.run.engine.submitdir import SubmitDir
from pegasus_bb.runtime import reservation_identity
from pegasus_bb.runtime.programs.exitcode import judge
from pegasus_bb.runtime.release_steps import release_command
from pegasus_bb.runtime.storage_decision import decision_message, readable_decision

# Ours and Pegasus's: they exit with 1 where the job has failed.
_EXITCODE = ("exitcode", "pegasus-exitcode")
_PASSED_ON = 1
_AWAIT_STAGE_OUT = "await_stage_out"
_WRAPPER_ARGUMENTS = 3  # before the POST script that await_stage_out wraps

RESULTS_LEFT = "its results did not come back"
_NODES = 5  # shown in full
_CALLED_FAILED = "DAGMan calls it failed; the journal ends before"


def why_script(item: NodeEntry, kind: str, script: Script, status: int) -> str:
    """Why a node failed whose script ended with ``status``: the job's own failure is
    enough where the POST script only passes it on."""
    if kind == "post" and item.status:
        judge = Path(deciding_program(script)).name in _EXITCODE
        if judge and status == _PASSED_ON:
            return f"its job {ended(item.status)}"
    why = f"its {kind.upper()} script {ended(status)}"
    if kind == "post" and item.status:
        why += f", its job {ended(item.status).removeprefix('ended ')}"
    return why


def deciding_program(post: Script) -> str:
    """The program that decides whether a node failed: await_stage_out wraps it."""
    arguments = post.arguments.split()
    if (
        Path(post.executable).name == _AWAIT_STAGE_OUT
        and len(arguments) > _WRAPPER_ARGUMENTS
    ):
        return arguments[_WRAPPER_ARGUMENTS]
    return post.executable


def recorded_failure(item: NodeEntry, submit_dir: Path) -> str:
    """The failure in the Kickstart records of the last attempt; empty without one."""
    post = item.node.post
    if post is None or not deciding_program(post).endswith("exitcode"):
        return ""
    for file in job_files(item.node, submit_dir):
        if ".out" in file.name:
            try:
                return judge(str(file)).why
            except OSError as error:
                return f"{file} cannot be read: {error.strerror}"
    return "it has written no output: the job never started, or was lost"


def believe_rescue(table: NodeTable, place: SubmitDir, dag: Dag) -> None:
    """Correct ``table`` by the newest rescue file: the journal may be incomplete, as
    monitord, which writes it, may have died early."""
    for name in read_rescue(place.last_rescue, dag):
        if table.items[name].state is not NodeState.DONE:
            table.move(table.items[name], NodeState.DONE)
    for name in read_failed(place.last_rescue, dag):
        item = table.items[name]
        if item.state not in (NodeState.DONE, NodeState.FAILED):
            found = refused_submission(item.node, place)
            found = found or recorded_failure(item, place.path)
            item.status = 1 if found else 0
            item.reason = found or _CALLED_FAILED
            table.failed(item)


def not_done(table: NodeTable, place: SubmitDir, rescue: Path | None, how: str) -> str:
    """Says how far the run came, which nodes failed and why, and how to continue."""
    counts = table.counts
    total = len(table.items)
    run = FailedRun(place, table)
    left = total - counts[NodeState.DONE] - len(run.failed)
    lines = [
        f"{how}: {counts[NodeState.DONE]} of {total} nodes are done, "
        f"{len(run.failed)} failed, {left} did not finish"
    ]
    lines += failure_messages(run.failed, place)
    if rescue is not None:
        lines.append(f"rescue file: {rescue.name}")
    lines += last_lines(run)
    kept = [] if run.has_vanished else leftover_messages(place)
    if run.why_unseen:  # the cause says how to give it up
        kept = kept[:1]
    return "\n".join([*lines, *kept])


def failure_messages(items: Iterable[NodeEntry], place: SubmitDir) -> list[str]:
    """Lines about nodes that failed: the reason, and the last lines of their files."""
    items = list(items)
    kept = kept_folders(place)
    ends = SlurmEnds(place)
    lines: list[str] = []
    for item in items[:_NODES]:
        name = item.node.name
        lines.append(f"  {name}: {_reason(item, place)}")
        by_slurm = ends.why(name) if item.stage != "pre" else ""
        lines += [f"    {by_slurm}"] if by_slurm else []
        lines += (f"  {line}" for line in evidence_lines(item, place))
        lines += (f"    its folder: {each.words}" for each in kept if each.node == name)
    if len(items) > _NODES:
        lines.append(f"  and {len(items) - _NODES} more")
    return lines


def _reason(item: NodeEntry, place: SubmitDir) -> str:
    """In the journal of monitord a grid job ends with 0, and its POST script fails: its
    record says why."""
    if item.stage != "post" or item.status:
        return item.reason
    if stage_out_log(item.node, place).is_file():
        return RESULTS_LEFT
    return recorded_failure(item, place.path) or item.reason


def evidence_lines(item: NodeEntry, place: SubmitDir) -> list[str]:
    """The failed nodes of the sub-workflow where ``item`` runs one; else the files
    that show the reason, each with its last lines."""
    dag = inner_dag(item, place.path) if item.stage != "pre" else None
    inside = _sub_workflow_messages(dag) if dag is not None else []
    if inside:
        return [f"  in its sub-workflow {dag}:", *inside]
    found = evidence(item, place)
    lines: list[str] = []
    shown: list[list[str]] = []
    for file, last in [one for one in found if one.lines] or found:
        if last in shown:  # .err often repeats what the record in .out has
            continue
        shown += [last] if last else []
        lines.append(f"  see {file}")
        lines += (f"  | {line}" for line in last)
    return lines


def _sub_workflow_messages(dag_file: Path) -> list[str]:
    """Failed nodes of a sub-workflow; none where its files cannot be read."""
    place = SubmitDir(dag_file.parent, dag_file)
    try:
        dag = read_dag(dag_file)
        table = table_now(place, dag, read_history(place.journal), alive=False)
        believe_rescue(table, place, dag)
    except (CatalogError, OSError):
        return []
    failed = [item for item in table.items.values() if item.state is NodeState.FAILED]
    return failure_messages(failed, place)


def leftover_messages(place: SubmitDir) -> list[str]:
    """Lines about the reservation that still exists, and how to release it."""
    moved = readable_decision(place.bb_dir)
    if moved:
        return [f"note:        {decision_message(moved)}"]
    noted = unreleased_note(place)
    if noted is None:
        return []
    size = format_size(noted.size)
    used = reservation_identity.was_ready(place.bb_dir, noted)
    command = release_command(
        noted.name, loses_nothing=not used or loses_nothing(place)
    )
    if not used:
        return [
            f"asked for:   reservation {noted.name} ({size}, {noted.backend}), which "
            "no job has had",
            f"to drop it:  {command}",
        ]
    return [
        f"kept:        reservation {noted.name} ({size}, {noted.backend}) with its "
        "data, until it is given back",
        f"to drop it:  {command}",
    ]
