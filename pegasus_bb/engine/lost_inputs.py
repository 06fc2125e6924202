"""Inputs of failed nodes that are not on the tier though their makers are done.

Such a node fails again however often the run goes on. The makers have to run again,
and before them the makers of what these read and a clean-up has removed since.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.dag.nodes import Dag, Node
from pegasus_bb.dag.roles import Role, role_of
from pegasus_bb.engine.dataflow import Dataflow
from pegasus_bb.engine.redo import Redo, tier_seen_from_here, with_nodes_below
from pegasus_bb.engine.submitdir import SubmitDir
from pegasus_bb.errors import PegasusBBError, RunFailed
from pegasus_bb.runtime.absent import absent_files, forget_absent
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.delete import file_folders

Ask = Callable[[str], bool]  # shows a message; whether the user says yes
_READERS = (Role.TASK, Role.CLUSTER, Role.STAGE_OUT)
_SHOWN = 5


def refuse(_: str) -> bool:
    """The answer where the user cannot be asked."""
    return False


@dataclass(frozen=True)
class LostInput:
    """A file that is gone, the node that reads it, and the one that makes it."""

    lfn: str
    reader: str
    maker: str

    def __str__(self) -> str:
        return (
            f"{self.lfn}, which {self.reader} reads, is not on the tier any more; "
            f"{self.maker}, which makes it, is done"
        )


def find_lost_inputs(
    place: SubmitDir, nodes: Mapping[str, Node], done: Set[str], failed: Set[str]
) -> list[LostInput]:
    """Of ``failed`` nodes, and of those that have to run again for them.

    None where the submit directory does not tell, or the reservation is gone.
    """
    bb = BBDir(str(place.bb))
    waiting = deque(name for name in failed if role_of(name) in _READERS)
    noted = bb.reservation() if bb.has_request and waiting else None
    if noted is None or noted.released_at is not None:
        return []
    try:
        return list(_search(place, nodes, done, waiting))
    except (PegasusBBError, OSError, ValueError, KeyError, TypeError):
        return []


def _search(
    place: SubmitDir, nodes: Mapping[str, Node], done: Set[str], waiting: deque[str]
) -> list[LostInput]:
    flow, is_lost = Dataflow(place, nodes), _is_lost(BBDir(str(place.bb)), waiting)
    lost: list[LostInput] = []
    again: set[str] = set()
    while waiting:
        reader = waiting.popleft()
        for lfn in filter(is_lost, flow.inputs(reader)):
            maker = flow.maker(lfn)
            if maker not in done:
                continue
            lost.append(LostInput(lfn, reader, maker))
            if maker not in again:
                again.add(maker)
                waiting.append(maker)
    return lost


def _is_lost(bb: BBDir, failed: Set[str] | deque[str]) -> Callable[[str], bool]:
    """By the tier itself, or by what its failed jobs have noted."""
    request = bb.request()
    buffer = tier_seen_from_here(bb, request)
    if not buffer or not Path(buffer).is_dir():
        noted = frozenset[str]().union(*(absent_files(bb, name) for name in failed))
        return noted.__contains__
    folders = [Path(folder) for folder in file_folders(bb, request, buffer) if folder]
    return lambda lfn: not any((folder / lfn).exists() for folder in folders)


def remake_lost_inputs(
    place: SubmitDir, dag: Dag, done: Set[str], failed: Set[str], ask: Ask
) -> Redo:
    """The nodes to run again, where the user agrees. Raises RunFailed where not."""
    lost = find_lost_inputs(place, dag.nodes, done, failed)
    if not lost:
        return Redo()
    makers = frozenset(one.maker for one in lost)
    message = "\n".join(messages(lost))
    if not ask(f"{message}\nRun {', '.join(sorted(makers))} again?"):
        raise RunFailed(f"{message}\n{how_to_remake(place)}")
    for name in failed:
        forget_absent(BBDir(str(place.bb)), name)
    again = with_nodes_below(place, dag, makers, done)
    return Redo(frozenset(again), why="inputs of failed nodes are lost")


def how_to_remake(place: SubmitDir) -> str:
    """The command that makes lost inputs again."""
    return f"to make it again: pegasus-bb run --remake {place.path}"


def messages(lost: list[LostInput]) -> list[str]:
    """A line for each, the first few."""
    more = len(lost) - _SHOWN
    lines = [f"lost:        {one}" for one in lost[:_SHOWN]]
    return lines + ([f"             and {more} more"] if more > 0 else [])
