"""Inputs and programs that the user has mended since stage_in brought them.

A failed task would read the older copy again, in every further run. So the stage_in
nodes that brought such a file run again before it. What finished tasks have read has an
effect only in a new plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path
from typing import NamedTuple

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.files import read_text
from pegasus_bb.core.units import abbreviate
from pegasus_bb.model.dag.nodes import Dag, Node
from pegasus_bb.model.dag.roles import Role, of_role, role_of
from pegasus_bb.planner.planned_by import PlanningCommand
from pegasus_bb.run.engine.evidence import job_files
from pegasus_bb.run.engine.lost_inputs import Dataflow
from pegasus_bb.run.engine.redo import Redo, with_nodes_below
from pegasus_bb.run.engine.submitdir import SubmitDir
from pegasus_bb.runtime.transfers.transfer_jobs import Transfer, read_jobs

_SHOWN = 5
_READERS = (Role.TASK, Role.CLUSTER)


class Outdated(NamedTuple):
    """A file that was written after ``stage_in`` has copied it."""

    path: str
    dest: str  # its planned copy
    lfn: str
    stage_in: str


class MendedFiles(NamedTuple):
    """What the user has mended, by the tasks that it is for."""

    wanted: tuple[Outdated, ...] = ()  # tasks that are left read it: it has to come
    too_late: tuple[str, ...] = ()  # paths that only finished tasks have read

    @property
    def notes(self) -> Iterator[str]:
        if self.too_late:
            yield (
                f"{abbreviate(self.too_late, _SHOWN)}: written after the tasks that "
                "use it have ended, which do not run again; a new plan runs them"
            )


def mended_files(
    place: SubmitDir, nodes: Mapping[str, Node], done: Set[str], failed: Set[str]
) -> MendedFiles:
    """Inputs and programs that were written since their copies were made, and installed
    programs that were written since the planning. Nothing unless a task has ``failed``,
    or if a file of the submit directory cannot be read."""
    if not of_role(failed, *_READERS):
        return MendedFiles()
    try:
        return _mended_files(place, nodes, done)
    except (PegasusBBError, OSError, ValueError, KeyError, TypeError):
        return MendedFiles()


def bring_again(
    place: SubmitDir, dag: Dag, done: Set[str], wanted: Iterable[Outdated]
) -> Redo:
    """The stage_in nodes to run again."""
    stage_ins = {one.stage_in for one in wanted}
    if not stage_ins:
        return Redo()
    files = abbreviate(sorted({one.path for one in wanted}), _SHOWN)
    return Redo(
        frozenset(with_nodes_below(place, dag, stage_ins, done)),
        why=f"{files}: written after its copy was made, which tasks that are left read",
    )


def _mended_files(
    place: SubmitDir, nodes: Mapping[str, Node], done: Set[str]
) -> MendedFiles:
    outdated = list(_outdated(place, nodes, done))
    brought = {one.path for one in outdated}
    programs = set(PlanningCommand.of_run(place.bb).changed_programs()) - brought
    if not outdated and not programs:
        return MendedFiles()
    flow = Dataflow(place, nodes)
    left = [n for n in nodes if n not in done and role_of(n) in _READERS]
    read = {lfn for task in left for lfn in flow.inputs(task)}
    text = "\n".join(_text(place, nodes[task]) for task in left)
    wanted = tuple(
        one
        for one in outdated
        if one.lfn in read or (not flow.is_read(one.lfn) and one.dest in text)
    )
    late = brought - {one.path for one in wanted}
    late |= {path for path in programs if path not in text}
    return MendedFiles(wanted, tuple(sorted(late)) if of_role(done, *_READERS) else ())


def _outdated(
    place: SubmitDir, nodes: Mapping[str, Node], done: Set[str]
) -> Iterator[Outdated]:
    for name in of_role(done, Role.STAGE_IN):
        node = nodes[name]
        records = [f for f in job_files(node, place.path) if ".out" in f.name]
        file = node.file(place.path).with_suffix(".in")
        if not records or not file.is_file():
            continue
        brought = records[-1].stat().st_mtime_ns
        for job in read_jobs(read_text(file)):
            if isinstance(job, Transfer) and _is_newer(job, brought):
                source = job.sources[0].path
                dest = job.dests[0].path
                yield Outdated(source, dest, job.lfn, name)


def _is_newer(job: Transfer, brought: int) -> bool:
    """Also a mode that was mended counts: ctime."""
    source = job.sources[0]
    dest = job.dests[0]
    if not source.is_local or dest.scheme == "symlink":
        return False  # a link leads to the file as it is now
    try:
        return Path(source.path).stat().st_ctime_ns > brought
    except OSError:
        return False


def _text(place: SubmitDir, node: Node) -> str:
    """The submit file, and the tasks of a cluster."""
    files = (node.file(place.path), node.file(place.path).with_suffix(".in"))
    return "\n".join(read_text(file) for file in files if file.is_file())
