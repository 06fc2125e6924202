"""Finds the files that show why a node failed, and their last lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.dag.nodes import Node
from pegasus_bb.run.engine.node_table import NodeEntry
from pegasus_bb.run.engine.starter import folder_of, submit_file
from pegasus_bb.run.engine.submitdir import SubmitDir
from pegasus_bb.runtime.job_reservation.results import NOTES
from pegasus_bb.runtime.programs.gate import REFUSAL

_LINES = 5
_LONG = 600  # characters of a line; our own messages with their advice are that long
_READ = 1 << 20
_PLANNER_LOG = "-Dpegasus.log.*="  # names the log of a sub-workflow's pegasus-plan
_DAGMAN_LOG = "_CONDOR_DAGMAN_LOG"
_OUT = ".dagman.out"
_STAMP = re.compile(r"^\s*\d\d/\d\d/\d\d \d\d:\d\d:\d\d ")


_RECORD = re.compile(r"^- invocation:.*\n(?:[ \t].*\n|\n)*", re.MULTILINE)
# Quoted output is told by its indentation in a Kickstart record.
_QUOTED = r"^ {{4}}{}:\n(?: {{6}}.*\n)*? {{6}}data: \|\n((?: {{8}}.*\n| *\n)*)"


class Evidence(NamedTuple):
    """A file to read, and its last lines."""

    file: Path
    lines: list[str]


def evidence(item: NodeEntry, place: SubmitDir) -> list[Evidence]:
    logs = _script_logs(item, place)
    if item.stage == "pre":
        return [Evidence(log, _last_lines(_tail(log))) for log in logs]
    return [_job_evidence(file) for file in job_files(item.node, place.path)] + [
        Evidence(log, _last_lines(_tail(log))) for log in logs
    ]


def job_files(node: Node, submit_dir: Path) -> list[Path]:
    """The newest .out and .err of the node, as far as they exist."""
    base = folder_of(node, submit_dir) / node.submit_file
    found = (_newest_attempt(base.with_suffix(end)) for end in (".out", ".err"))
    return [file for file in found if file is not None]


def stage_out_log(node: Node, place: SubmitDir) -> Path:
    """The file that says why the stage-out of ``node`` failed; missing if it did
    not."""
    return place.bb / NOTES / f"{node.name}.err"


def refused_submission(node: Node, place: SubmitDir) -> str:
    """Why HTCondor has refused the last try to submit ``node``, by DAGMan's log; empty
    if it has not."""
    log = _tail(place.dag.with_name(place.dag.name + _OUT))
    _, _, last = log.rpartition(f"Submitting node {node.name} from file ")
    said, has_failed, _ = last.partition("Job submit ")
    if not has_failed or "assigned HTCondor ID" in said:
        return ""
    lines = (_STAMP.sub("", line).strip() for line in said.splitlines()[1:])
    words = " ".join(filter(None, lines))[:_LONG]
    return f"HTCondor does not take its submit file: {words}"


def inner_dag(item: NodeEntry, submit_dir: Path) -> Path | None:
    """The DAG of the sub-workflow that ``item`` runs; None where it runs none."""
    node = item.node
    if node.kind == "SUBDAG":
        return folder_of(node, submit_dir) / node.submit_file
    planned = sorted((submit_dir / "sub" / node.name / "run").glob("*.dag"))
    if planned:  # by bin/sub_workflow
        return planned[0]
    try:
        log = submit_file(item, submit_dir).environment.get(_DAGMAN_LOG, "")
    except CatalogError:
        return None
    return Path(log.removesuffix(_OUT)) if log.endswith(_OUT) else None


def _script_logs(item: NodeEntry, place: SubmitDir) -> list[Path]:
    if item.stage == "pre":
        files = list(_pre_logs(item.node, place))
    elif item.stage == "post":
        files = [
            _sibling(item.node, place, "post.err"),
            stage_out_log(item.node, place),
        ]
    else:
        files = []
    there = [file for file in files if file.is_file() and file.stat().st_size]
    return sorted(there, key=lambda file: file.stat().st_mtime)[-1:]


def _pre_logs(node: Node, place: SubmitDir) -> Iterator[Path]:
    yield _sibling(node, place, "pre.err")
    yield _sibling(node, place, "pre.log")
    yield place.path / f"{node.name}.pre.log"
    if node.pre is None:
        return
    if Path(node.pre.executable).name == "gate":
        yield place.bb / REFUSAL
    for word in node.pre.arguments.split():
        if word.startswith(_PLANNER_LOG):
            yield place.path / word[len(_PLANNER_LOG) :]


def _sibling(node: Node, place: SubmitDir, ending: str) -> Path:
    file = folder_of(node, place.path) / node.submit_file
    return file.with_suffix(f".{ending}")


def _job_evidence(file: Path) -> Evidence:
    """The task's output is in its Kickstart record; without a record it is in .err."""
    text = _tail(file)
    # It may have the record of a try of a task that another one followed.
    rest = _RECORD.sub("", text) if ".err" in file.name else ""
    if "- invocation:" in text and not rest.strip():
        record = text[text.rindex("- invocation:") :]
        return Evidence(file, _last_lines(_block(record, "stderr") or _block(record)))
    return Evidence(file, _last_lines(rest))


def _block(record: str, stream: str = "stdout") -> str:
    """What the task wrote to ``stream``, as Kickstart quotes it; often empty."""
    found = re.search(_QUOTED.format(stream), f"{record}\n", re.MULTILINE)
    lines = found[1].splitlines() if found else []
    return "\n".join(line.strip() for line in lines).strip()


def _last_lines(text: str) -> list[str]:
    lines = [line.rstrip()[:_LONG] for line in text.splitlines() if line.strip()]
    return lines[-_LINES:]


def _newest_attempt(file: Path) -> Path | None:
    """``file``, or the last of file.000, file.001 that the POST script made of it."""
    if file.exists():
        return file
    numbered = sorted(file.parent.glob(f"{file.name}.[0-9][0-9][0-9]"))
    return numbered[-1] if numbered else None


def _tail(file: Path) -> str:
    try:
        with file.open("rb") as source:
            source.seek(max(0, source.seek(0, 2) - _READ))
            return source.read().decode(errors="replace")
    except OSError:
        return ""
