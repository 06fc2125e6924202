"""Reservations of single jobs in what the real pegasus-plan has written: their files in
bb/, POST scripts that wait for their results, and the option that sbatch is given."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from pegasus_bb.dag.nodes import Dag, Node
from pegasus_bb.dag.reader import read_dag
from pegasus_bb.dag.writer import script_line
from pegasus_bb.errors import CatalogError, UsageError
from pegasus_bb.planner.context import PlanContext
from pegasus_bb.planner.pegasus.folder import replace_text
from pegasus_bb.planner.pegasus.outcome import Outcome
from pegasus_bb.planner.rooms import landed_post
from pegasus_bb.planner.seal.rooms import check_rooms, names
from pegasus_bb.rewrite import directives_option

_CLUSTERS = ("--cluster", "-C")
_ARGUMENTS = re.compile(r'(EXTRA_ARGUMENTS==\\?"[^"\\]*)(\\?")')
_SHARED = re.compile(r'--bbf=[^\s"\\]+')  # of the site: it says less than the job's
_POST = re.compile(r"^SCRIPT POST (\S+) ", re.MULTILINE)


def check_clusters(passed: tuple[str, ...], mode: str) -> None:
    """Raises UsageError where jobs with rooms would be put together into one."""
    why = f"in mode {mode} a job has a reservation for its own files"
    refuse_clusters(passed, why, "--bb-mode transient or persistent")


def refuse_clusters(passed: tuple[str, ...], why: str, instead: str) -> None:
    """Raises UsageError where jobs would be put together into one."""
    for word in passed:
        if word.partition("=")[0] in _CLUSTERS:
            raise UsageError(
                f"{word}: a cluster of jobs is one job of the batch system, and {why}; "
                f"leave it out, or plan with {instead}"
            )


def add_rooms(
    context: PlanContext,
    outcome: Outcome,
    dag: Dag,
    nodes: list[tuple[str, str]],
    files: Mapping[str, bytes],
) -> Dag:
    """Write ``files`` below bb/, and have each job with a room use it; ``dag`` as it is
    then. ``nodes``: (id of a job, its node). Raises CatalogError, NotSealed."""
    placement = context.placement
    assert placement is not None  # noqa: S101 - rooms are a part of it
    for path, data in files.items():
        file = context.submit_dir / "bb" / path
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(data)
    if not placement.rooms:
        return dag
    _replace_posts(outcome, dict(_posts(context, dag, nodes, placement.rooms)))
    if placement.room_tier.backend == "datawarp":
        for job, node in nodes:
            if job in placement.rooms:
                option = directives_option(context.submit_dir, job)
                _add_option(outcome, dag.nodes[node], option)
    sealed = read_dag(outcome.dag_file)
    check_rooms(sealed, context.submit_dir)
    return sealed


def _posts(
    context: PlanContext,
    dag: Dag,
    nodes: list[tuple[str, str]],
    rooms: Mapping[str, object],
) -> Iterator[tuple[str, str]]:
    """Node -> the line of the .dag that is its POST script."""
    for job, node in nodes:
        post = dag.nodes[node].post
        if job in rooms and post is not None:
            waits = landed_post(post, node, context)
            yield node, script_line("POST", node, waits)


def _replace_posts(outcome: Outcome, lines: Mapping[str, str]) -> None:
    """In their places: DAGMan does not take a second POST script of a node."""
    file: Path = outcome.dag_file
    text = file.read_text(encoding="utf-8", errors="surrogateescape")
    changed = [_line(line, lines) for line in text.split("\n")]
    data = "\n".join(changed).encode("utf-8", "surrogateescape")
    if text.count("\n") != data.count(b"\n"):
        raise CatalogError("a POST script has a line break", str(file))
    replace_text(file, data)


def _add_option(outcome: Outcome, node: Node, option: str) -> None:
    """Where the site, its programs or the properties say glite.arguments too,
    pegasus-plan lets those stand in the place of a job's own."""
    text = outcome.text(node)
    if not names(text, option):
        file = outcome.folder / node.directory / node.submit_file
        changed = _SHARED.sub(option, text)
        if changed == text:
            changed = _ARGUMENTS.sub(rf"\1 {option}\2", text)
        replace_text(file, changed.encode("utf-8", "surrogateescape"))


def _line(line: str, lines: Mapping[str, str]) -> str:
    found = _POST.match(line)
    return lines.get(found[1], line) if found else line
