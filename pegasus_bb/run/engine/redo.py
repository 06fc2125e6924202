"""Stages out again the results that were staged out and are not safe any more.

bb_delete keeps everything then (79), and running it again alone would always end the
same way: the user has removed or edited a result, or the manifest was lost.
"""

from __future__ import annotations

import os
import re
import time
from collections import deque
from collections.abc import Iterator, Set
from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.core.errors import DataNotSafe
from pegasus_bb.core.files import read_text
from pegasus_bb.model.dag.nodes import Dag, Node
from pegasus_bb.model.dag.roles import Role, of_role, role_of
from pegasus_bb.model.reservation import Request
from pegasus_bb.planner.seal.sealed_directory import buffer_users
from pegasus_bb.run.engine.submitdir import SubmitDir
from pegasus_bb.runtime.backends.backend_table import open_backend
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.programs.delete import seen_from_here
from pegasus_bb.runtime.results_guard import ResultsGuard
from pegasus_bb.runtime.staging.folder_lfns import digest_path
from pegasus_bb.runtime.storage_decision import on_the_pfs
from pegasus_bb.runtime.transfers.transfer_jobs import Transfer, read_jobs

# Values of +pegasus_job_class, which either planner writes into submit files.
TASK = 1
STAGE_IN = 2
CREATE_DIR = 6
CLEAN_UP = 8
CHMOD = 9
SUB_WORKFLOWS = (10, 11)
_LINE = re.compile(r"^\+pegasus_job_class\s*=\s*([0-9]+)\s*$", re.MULTILINE | re.I)
# Tasks, stage-in and sub-workflows: a clean-up may have removed their inputs since.
_NOT_TWICE = (TASK, STAGE_IN, *SUB_WORKFLOWS)


@dataclass(frozen=True)
class Redo:
    """Nodes that are to run again, and files that were moved out of their way."""

    nodes: frozenset[str] = frozenset()
    moved: tuple[Path, ...] = ()
    why: str = "results are not safe any more"

    def __bool__(self) -> bool:
        return bool(self.nodes)

    @property
    def message(self) -> str:
        names = ", ".join(sorted(self.nodes))
        kept = "".join(f"\n  what was there is kept: {path}" for path in self.moved)
        return f"{self.why}; to run again: {names}{kept}"


def stage_out_again(place: SubmitDir, dag: Dag, done: Set[str]) -> Redo:
    """Nodes that must run again though only bb_delete is left to do.

    A result that was edited is renamed, never replaced. Raises DataNotSafe where
    that cannot be.
    """
    bb = place.bb_dir
    if not bb.has_request or not still_has_data(bb):
        return Redo()
    if not _only_delete_left(place, dag, done):
        return Redo()
    request = bb.request()
    moved = on_the_pfs(bb, request)
    buffer = tier_seen_from_here(bb, request)
    vanishes = "" if moved else buffer
    unsafe = {u.lfn for u in ResultsGuard(bb, vanishes).unsafe()}
    nodes = set()
    moves = []
    for node in dag.nodes.values() if unsafe else ():
        jobs = list(_stage_outs(place, node)) if node.name in done else []
        again = [job for job in jobs if job.lfn in unsafe]
        real = {job.lfn: _source_path(job, request, buffer) for job in jobs}
        if again and all(not path or Path(path).exists() for path in real.values()):
            nodes.add(node.name)
            moves += [(real[job.lfn], job.dests[0].path) for job in again]
    renamed = [
        _move_aside(dest) for source, dest in moves if _is_in_the_way(source, dest)
    ]
    return Redo(frozenset(with_nodes_below(place, dag, nodes, done)), tuple(renamed))


def still_has_data(bb: BBDir) -> bool:
    """Whether the run has its reservation, or is on the PFS."""
    if on_the_pfs(bb, bb.request()):
        return True
    noted = bb.reservation()
    return noted is not None and not noted.released_at


def _only_delete_left(place: SubmitDir, dag: Dag, done: Set[str]) -> bool:
    left = dag.nodes.keys() - done
    if not of_role(left, Role.BB_DELETE):
        return False
    bb = place.bb_dir
    users = buffer_users(dag, place.path, bb.request())
    # A clean-up fails where it would remove what may be the last copy.
    return all(_can_repeat(place, dag, name) for name in users & left)


def tier_seen_from_here(bb: BBDir, request: Request) -> str:
    """The folder of the planned prefix on this machine; empty where it is not mounted
    here."""
    moved = on_the_pfs(bb, request)
    if moved:
        return moved.prefix
    return seen_from_here(request, open_backend(request.backend, request.settings))


def _stage_outs(place: SubmitDir, node: Node) -> Iterator[Transfer]:
    """Transfers by which ``node`` stages out promised results. The lists of other
    nodes, such as clusters and registrations, have other formats."""
    file = node.file(place.path).with_suffix(".in")
    outputs = place.bb_dir.placement()["outputs"]
    if role_of(node.name) is not Role.STAGE_OUT or not file.is_file():
        return
    for job in read_jobs(read_text(file)):
        if isinstance(job, Transfer) and job.dests[0].path == _path(outputs, job.lfn):
            yield job


def _path(outputs: dict[str, str], lfn: str) -> str:
    promised = str(outputs.get(lfn, ""))
    return promised[len("file://") :] if promised.startswith("file://") else promised


def _source_path(job: Transfer, request: Request, buffer: str) -> str:
    """The path of its source on this machine; empty where it cannot be seen."""
    path = job.sources[0].path
    if path != request.prefix and not path.startswith(request.prefix + "/"):
        return path
    return buffer + path[len(request.prefix) :] if buffer else ""


def _is_in_the_way(source: str, dest: str) -> bool:
    """Whether ``dest`` exists and is not the result, for example an edited one."""
    if not os.path.lexists(dest):
        return False
    if not source or Path(dest).is_symlink():
        return True
    try:
        same = Path(source).samefile(dest)
        if same:
            return False
        digest = digest_path(source)
        return digest_path(dest, digest) != digest
    except OSError:
        return True


def _move_aside(dest: str) -> Path:
    when = time.strftime("%Y%m%dT%H%M%S")
    number = 0
    while os.path.lexists(target := f"{dest}.kept-{when}{f'.{number}' * (number > 0)}"):
        number += 1
    try:
        Path(dest).rename(target)
    except OSError as error:
        raise DataNotSafe(
            f"{dest} is not the result that stage-out verified there, and it cannot be "
            f"moved to {target} ({error.strerror}), so it was not staged out again; "
            "move it away, then run again"
        ) from error
    return Path(target)


def with_nodes_below(
    place: SubmitDir, dag: Dag, nodes: Set[str], done: Set[str]
) -> set[str]:
    """``nodes`` and the clean-ups and registrations that come after them."""
    found = set(nodes)
    below = deque(nodes)
    while below:
        for child in dag.children.get(below.popleft(), ()):
            if child in done and child not in found and _can_repeat(place, dag, child):
                found.add(child)
                below.append(child)
    return found


def _can_repeat(place: SubmitDir, dag: Dag, name: str) -> bool:
    return job_class(place, dag.nodes[name]) not in _NOT_TWICE


def job_class(place: SubmitDir, node: Node) -> int:
    """Pegasus's number; 0 where the submit file has none. Raises OSError."""
    if node.kind == "SUBDAG":
        return SUB_WORKFLOWS[-1]
    file = node.file(place.path)
    found = _LINE.search(read_text(file))
    return int(found[1]) if found else 0
