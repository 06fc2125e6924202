"""Inputs and programs that the user has mended since stage_in brought them.

A failed task would read the older copy again, in every further run. So the stage_in
nodes that brought such a file run again before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from pathlib import Path
from typing import NamedTuple

from pegasus_bb.dag.nodes import Dag, Node
from pegasus_bb.dag.roles import Role, of_role, role_of
from pegasus_bb.engine.evidence import job_files
from pegasus_bb.engine.lost_inputs import Dataflow
from pegasus_bb.engine.redo import Redo, with_nodes_below
from pegasus_bb.engine.submitdir import SubmitDir
from pegasus_bb.errors import PegasusBBError
from pegasus_bb.runtime.transfers.jobs import Transfer, read_jobs
from pegasus_bb.units import abbreviate

_SHOWN = 5
_READERS = (Role.TASK, Role.CLUSTER)


class Outdated(NamedTuple):
    """A file that was written after ``stage_in`` has copied it."""

    path: str
    dest: str  # its planned copy
    lfn: str
    stage_in: str


def bring_again(place: SubmitDir, dag: Dag, done: Set[str], failed: Set[str]) -> Redo:
    """The stage_in nodes to run again for the ``failed`` tasks. Reads files of the
    submit directory only; empty if one cannot be read."""
    try:
        return _bring_again(place, dag, done, failed)
    except (PegasusBBError, OSError, ValueError, KeyError, TypeError):
        return Redo()


def _bring_again(place: SubmitDir, dag: Dag, done: Set[str], failed: Set[str]) -> Redo:
    tasks = [name for name in failed if role_of(name) in _READERS]
    outdated = list(_outdated(place, dag, done)) if tasks else []
    if not outdated:
        return Redo()
    flow = Dataflow(place, dag.nodes)
    read = {lfn for task in tasks for lfn in flow.inputs(task)}
    words = "\n".join(_text(place, dag.nodes[task]) for task in tasks)
    wanted = [one for one in outdated if one.lfn in read or one.dest in words]
    if not wanted:
        return Redo()
    nodes = with_nodes_below(place, dag, {one.stage_in for one in wanted}, done)
    files = abbreviate(sorted({one.path for one in wanted}), _SHOWN)
    return Redo(
        frozenset(nodes),
        why=f"{files}: written after its copy was made, which failed tasks read",
    )


def _outdated(place: SubmitDir, dag: Dag, done: Set[str]) -> Iterator[Outdated]:
    for name in of_role(done, Role.STAGE_IN):
        node = dag.nodes[name]
        records = [f for f in job_files(node, place.path) if ".out" in f.name]
        file = node.file(place.path).with_suffix(".in")
        if not records or not file.is_file():
            continue
        brought = records[-1].stat().st_mtime_ns
        for job in read_jobs(file.read_text("utf-8", "surrogateescape")):
            if isinstance(job, Transfer) and _is_newer(job, brought):
                source, dest = job.sources[0].path, job.dests[0].path
                yield Outdated(source, dest, job.lfn, name)


def _is_newer(job: Transfer, brought: int) -> bool:
    """Also a mode that was mended counts: ctime."""
    source, dest = job.sources[0], job.dests[0]
    if not source.is_local or dest.scheme == "symlink":
        return False  # a link leads to the file as it is now
    try:
        return Path(source.path).stat().st_ctime_ns > brought
    except OSError:
        return False


def _text(place: SubmitDir, node: Node) -> str:
    """The submit file, and the tasks of a cluster."""
    files = (node.file(place.path), node.file(place.path).with_suffix(".in"))
    return "\n".join(_read(file) for file in files if file.is_file())


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="surrogateescape")
