"""Finds inputs of failed nodes that are missing though the nodes that make them are
done.

Such a node fails in every further run. Its makers have to run again, and before them
the makers of their own inputs, where a clean-up has removed these. The record of a
maker tells a file that was lost from one that was never made.
"""

from __future__ import annotations

import errno
import os
import re
from collections import deque
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pegasus_bb.core.errors import PegasusBBError, RunFailed
from pegasus_bb.core.files import read_text
from pegasus_bb.model.dag.nodes import Dag, Node
from pegasus_bb.model.dag.roles import Role, of_role, role_of
from pegasus_bb.run.engine.evidence import job_files
from pegasus_bb.run.engine.redo import (
    Redo,
    still_has_data,
    tier_seen_from_here,
    with_nodes_below,
)
from pegasus_bb.run.engine.submitdir import SubmitDir
from pegasus_bb.runtime.absent_notes import absent_files, forget_absent
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.programs.delete import file_folders
from pegasus_bb.runtime.results_guard import ResultsGuard, local_path
from pegasus_bb.runtime.transfers.transfer_jobs import Transfer, read_jobs

Ask = Callable[[str], bool]  # shows a message; whether the user says yes
# They keep all while a promised result is not safe.
_KEEPERS = (Role.BB_DELETE, Role.LEAF_CLEANUP)
_READERS = (Role.TASK, Role.CLUSTER, Role.STAGE_OUT, *_KEEPERS)
_SHOWN = 5
_JOB_ID = re.compile(r'^\+pegasus_wf_dax_job_id = "(.*)"$', re.MULTILINE)
_SITE = re.compile(r'^\+pegasus_site = "(.*)"$', re.MULTILINE)
_CLUSTERED = re.compile(r" -N (\S+) ")  # one per task of a cluster


def refuse(_: str) -> bool:
    """The answer where the user cannot be asked."""
    return False


@dataclass(frozen=True)
class LostInput:
    """A file that is gone, the node that reads it, and the one that makes it."""

    lfn: str
    reader: str
    maker: str
    never_made: bool = False  # the record of the maker says that it was not there
    where: str = "on the tier"  # it was to be

    def __str__(self) -> str:
        if self.never_made:
            return (
                f"{self.maker} ended well and has not made {self.lfn}, which "
                f"{self.reader} reads"
            )
        if role_of(self.reader) in _KEEPERS:
            return (
                f"{self.lfn} is neither at its destination nor on the tier; "
                f"{self.maker}, which makes it, is done"
            )
        return (
            f"{self.lfn}, which {self.reader} reads, is not {self.where} any more; "
            f"{self.maker}, which makes it, is done"
        )


def find_lost_inputs(
    place: SubmitDir, nodes: Mapping[str, Node], done: Set[str], failed: Set[str]
) -> list[LostInput]:
    """Find lost inputs of ``failed`` nodes, and of nodes to be run again for them.

    Empty where files cannot be read or the reservation was released.
    """
    bb = place.bb_dir
    waiting = deque(name for name in failed if role_of(name) in _READERS)
    try:
        if not waiting or (bb.has_request and not still_has_data(bb)):
            return []
        return list(_search(place, nodes, done, waiting))
    except (PegasusBBError, OSError, ValueError, KeyError, TypeError):
        return []


def _search(
    place: SubmitDir, nodes: Mapping[str, Node], done: Set[str], waiting: deque[str]
) -> list[LostInput]:
    bb = place.bb_dir
    flow = Dataflow(place, nodes)
    is_lost = _is_lost(bb, waiting)
    where = "on the tier" if bb.has_request else f"in {bb.scratch()}"
    lost: list[LostInput] = []
    again: set[str] = set()
    while waiting:
        reader = waiting.popleft()
        for lfn in filter(is_lost, flow.inputs(reader)):
            maker = flow.maker(lfn)
            if maker not in done:
                continue
            never_made = flow.was_not_made(lfn, maker)
            lost.append(LostInput(lfn, reader, maker, never_made, where))
            if maker not in again:
                again.add(maker)
                waiting.append(maker)
    return lost


def _is_lost(bb: BBDir, failed: Set[str] | deque[str]) -> Callable[[str], bool]:
    """A test by the files on the tier, or in the scratch of a run that shares no tier;
    if unseen from here, by notes of failed jobs."""
    folders = _folders(bb)
    if not folders:
        noted = frozenset[str]().union(*(absent_files(bb, name) for name in failed))
        return noted.__contains__
    return lambda lfn: not any((folder / lfn).exists() for folder in folders)


def _folders(bb: BBDir) -> list[Path]:
    """The folders that may have a file; empty where they are not seen from here."""
    if not bb.has_request:
        scratch = Path(bb.scratch())
        was_there = _has_parent_of_run(scratch, bb)
        return [scratch] if scratch.is_dir() or was_there else []
    first = tier_seen_from_here(bb, bb.request())
    folders = file_folders(bb, bb.request(), first)
    seen = first and Path(first).is_dir()
    return [Path(folder) for folder in folders if folder] if seen else []


def _has_parent_of_run(scratch: Path, bb: BBDir) -> bool:
    """Whether this machine sees the folder that the run has made ``scratch`` in: so a
    missing one was removed. Its name is of a run: USER/pegasus/LABEL/ by default, or as
    the submit directory has it. Any other may be a mount point, where other machines
    see more."""
    by_default = scratch.parts[-3:-1] == ("pegasus", bb.label())
    named = scratch.parts[-2:] == Path(bb.submit_dir).parts[-2:]
    return (by_default or named) and scratch.parent.is_dir()


def remake_lost_inputs(
    place: SubmitDir, dag: Dag, done: Set[str], failed: Set[str], ask: Ask
) -> Redo:
    """The nodes to run again if the user agrees; raises RunFailed otherwise."""
    lost = find_lost_inputs(place, dag.nodes, done, failed)
    if not lost:
        return Redo()
    makers = {one.maker for one in lost}
    folders = _folders(place.bb_dir)
    is_gone = bool(folders) and not folders[0].is_dir()
    if is_gone or of_role(done, Role.LEAF_CLEANUP):  # which removes the folder, too
        makers |= set(of_role(done, Role.CREATE_DIR))
    message = "\n".join(messages(lost))
    if not ask(f"{message}\nRun {', '.join(sorted(makers))} again?"):
        command = f"pegasus-bb run --remake {place.path}"
        lines = [message, f"to make it again: {command}"]
        if any(one.never_made for one in lost):
            lines.append("if the workflow has a wrong name: mend it and plan again")
        raise RunFailed("\n".join(lines))
    for name in failed:
        forget_absent(place.bb_dir, name)
    again = with_nodes_below(place, dag, makers, done)
    return Redo(frozenset(again), why="inputs of failed nodes are lost")


def messages(lost: list[LostInput]) -> list[str]:
    more = len(lost) - _SHOWN
    lines = [
        f"{'never made:' if one.never_made else 'lost:':13}{one}"
        for one in lost[:_SHOWN]
    ]
    return lines + ([f"             and {more} more"] if more > 0 else [])


class Dataflow:
    """Reads files only on demand, and each once. Raises CatalogError, OSError,
    ValueError."""

    def __init__(self, place: SubmitDir, nodes: Mapping[str, Node]) -> None:
        self._place = place
        self._nodes = nodes
        self._missing: dict[str, Set[str]] = {}

    def inputs(self, name: str) -> list[str]:
        if role_of(name) is Role.STAGE_OUT:
            return self._transferred(name)
        if role_of(name) in _KEEPERS:
            return self._removed_results()
        if self._is_elsewhere(name):
            return []
        uses = (use for job in self._jobs_of(name) for use in self._uses(job))
        return [use["lfn"] for use in uses if use.get("type") == "input"]

    def _is_elsewhere(self, name: str) -> bool:
        """Whether the job has its files on another site, such as local."""
        site = _SITE.findall(read_text(self._file(name)))
        return bool(site) and site[-1] != self._site

    @cached_property
    def _site(self) -> str:
        return self._place.bb_dir.site()

    def _removed_results(self) -> list[str]:
        """Unsafe results that are not at their destination; one that was edited there
        is the user's, and is not made again in its place."""
        bb = self._place.bb_dir
        outputs = bb.placement()["outputs"]
        unsafe = [one.lfn for one in ResultsGuard(bb).unsafe()]
        return [lfn for lfn in unsafe if not os.path.lexists(local_path(outputs[lfn]))]

    def was_not_made(self, lfn: str, maker: str) -> bool:
        """Whether the records of ``maker`` note that ``lfn`` was not there."""
        if maker not in self._missing:
            found = job_files(self._nodes[maker], self._place.path)
            outputs = [file for file in found if ".out" in file.name]
            self._missing[maker] = _missing_files(outputs)
        return lfn in self._missing[maker]

    def maker(self, lfn: str) -> str:
        """The node that makes ``lfn``, or stages it in; empty where none does."""
        job = self._job_that_makes.get(lfn)
        return self._node_of_job(job) if job else self._stage_in_of.get(lfn, "")

    @cached_property
    def _stage_in_of(self) -> dict[str, str]:
        stage_ins = reversed(of_role(self._nodes, Role.STAGE_IN))
        return {lfn: name for name in stage_ins for lfn in self._transferred(name)}

    @cached_property
    def _uses_of(self) -> dict[str, list[dict[str, Any]]]:
        from pegasus_bb.model.document import load_value

        workflow, _ = load_value(self._place.workflow, {})
        return {str(job["id"]): job.get("uses") or [] for job in workflow["jobs"]}

    def _uses(self, job: str) -> list[dict[str, Any]]:
        return self._uses_of.get(job, [])

    def is_read(self, lfn: str) -> bool:
        """Whether the workflow names ``lfn`` as an input: a program is not."""
        return lfn in self._inputs

    @cached_property
    def _inputs(self) -> Set[str]:
        uses = (use for of_job in self._uses_of.values() for use in of_job)
        return {use["lfn"] for use in uses if use.get("type") == "input"}

    @cached_property
    def _job_that_makes(self) -> dict[str, str]:
        return {
            use["lfn"]: job
            for job, uses in self._uses_of.items()
            for use in uses
            if use.get("type") == "output"
        }

    def _node_of_job(self, job: str) -> str:
        for name in self._nodes_by_ending.get(job, ()):
            if job in self._jobs_of(name):
                return name
        return self._cluster_of.get(job, "")

    @cached_property
    def _nodes_by_ending(self) -> dict[str, list[str]]:
        """A node's name ends with the id of its job, which may have a "_" itself."""
        found: dict[str, list[str]] = {}
        for name in self._nodes:
            for mark in re.finditer("_", name):
                found.setdefault(name[mark.end() :], []).append(name)
        return found

    @cached_property
    def _cluster_of(self) -> dict[str, str]:
        clusters = of_role(self._nodes, Role.CLUSTER)
        return {job: name for name in clusters for job in self._jobs_of(name)}

    def _jobs_of(self, name: str) -> list[str]:
        if role_of(name) is Role.CLUSTER:
            return _CLUSTERED.findall(read_text(self._file(name).with_suffix(".in")))
        return _JOB_ID.findall(read_text(self._file(name)))

    def _transferred(self, name: str) -> list[str]:
        jobs = read_jobs(read_text(self._file(name).with_suffix(".in")))
        return [job.lfn for job in jobs if isinstance(job, Transfer)]

    def _file(self, name: str) -> Path:
        node = self._nodes[name]
        return node.file(self._place.path)


def _missing_files(records: list[Path]) -> Set[str]:
    """The files that the records note as not there; the first note of a file counts."""
    from pegasus_bb.report.records import read_records

    notes: dict[str, Any] = {}
    for record in (one for file in records for one in read_records(file)):
        files = (record.data or {}).get("files")
        for lfn, note in files.items() if isinstance(files, dict) else ():
            notes.setdefault(lfn, note)
    return {
        lfn
        for lfn, note in notes.items()
        if isinstance(note, dict) and note.get("error") == errno.ENOENT
    }
