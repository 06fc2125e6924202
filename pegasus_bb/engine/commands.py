"""What a node's script and its job are started with."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from pegasus_bb.dag.nodes import Node, Script
from pegasus_bb.dag.submitfile import SubmitFile, read_submit
from pegasus_bb.engine.table import Item, State, Table

# DAGMan's own words for "a node has failed" and "all is well".
_NODE_FAILED, _OK = 2, 0


@dataclass(frozen=True, slots=True)
class Command:
    """A program with everything around it; files that are empty are /dev/null."""

    argv: list[str]
    cwd: str
    environment: dict[str, str] = field(default_factory=dict)
    input: str = ""
    output: str = ""
    error: str = ""


def folder_of(node: Node, submit_dir: Path) -> Path:
    """Where a node's relative paths count from."""
    return submit_dir / node.directory if node.directory else submit_dir


def script_command(
    script: Script, item: Item, table: Table, submit_dir: Path, post: bool
) -> Command:
    """A PRE or POST script. As in DAGMan, arguments are split at blanks, no shell
    sees them, and only a whole argument is a macro."""
    folder = folder_of(item.node, submit_dir)
    words = script.arguments.replace("\t", " ").split(" ")
    macros = _macros(item, table, post)
    arguments = [macros.get(word.upper(), word) for word in words if word]
    return Command([str(folder / script.executable), *arguments], str(folder))


def _macros(item: Item, table: Table, post: bool) -> dict[str, str]:
    counts = table.counts
    macros = {
        "$JOB": item.node.name,
        "$NODE": item.node.name,
        "$RETRY": str(item.retries),
        "$MAX_RETRIES": str(item.node.retry),
        "$DAGID": str(os.getpid()),
        "$DAG_STATUS": str(_NODE_FAILED if counts[State.FAILED] else _OK),
        "$FAILED_COUNT": str(counts[State.FAILED]),
        "$FUTILE_COUNT": str(counts[State.FUTILE]),
        "$DONE_COUNT": str(counts[State.DONE]),
        "$QUEUED_COUNT": str(counts[State.RUNNING]),
        "$NODE_COUNT": str(len(table.items)),
    }
    if post:  # DAGMan leaves these words as they are for a PRE script
        macros |= {
            "$RETURN": str(item.status),
            "$PRE_SCRIPT_RETURN": str(item.pre_status),
            "$JOBID": f"{item.sequence}.0",
            "$CLUSTERID": str(item.sequence),
            "$JOB_COUNT": "1",
            "$SUCCESS": str(item.status == 0),
            "$EXIT_CODES": str(item.status),
            "$EXIT_CODE_COUNTS": f"{item.status}:1",
            "$JOB_ABORT_COUNT": "0",
        }
    return macros


def submit_file(item: Item, submit_dir: Path) -> SubmitFile:
    """The submit file of a node. Raises CatalogError."""
    node = item.node
    known = {
        "JOB": node.name,
        "RETRY": str(item.retries),
        "cluster": str(item.sequence),
        "clusterid": str(item.sequence),
        "DAGManJobId": str(os.getpid()),
    }
    return read_submit(
        folder_of(node, submit_dir) / node.submit_file, {**known, **node.vars}
    )


def job_command(job: SubmitFile, item: Item, submit_dir: Path) -> Command:
    """A job as HTCondor would start it on this machine.

    ``executable`` counts from the folder of submission, files from ``initialdir``; the
    job starts in ``remote_initialdir`` where Pegasus names one (style condor).
    """
    folder = folder_of(item.node, submit_dir)
    cwd = folder / job.initialdir

    def at(name: str) -> str:
        return str(cwd / name) if name and name != os.devnull else ""

    return Command(
        [str(folder / job.executable), *job.arguments],
        str(cwd / job.remote_initialdir),
        job.environment,
        at(job.input),
        at(job.output),
        at(job.error),
    )
