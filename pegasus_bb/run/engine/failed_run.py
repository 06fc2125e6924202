"""What is known of a run that has failed: the facts from which its cause is found."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from pegasus_bb.core.errors import PegasusBBError, UsageError
from pegasus_bb.core.files import missing_interpreter
from pegasus_bb.core.units import parse_size
from pegasus_bb.model.dag.nodes import Node
from pegasus_bb.model.dag.roles import CLEANUPS, Role, role_of
from pegasus_bb.model.reservation import Request, Reservation, Status
from pegasus_bb.model.reservation import State as Reserved
from pegasus_bb.planner.planned_by import PlanningCommand
from pegasus_bb.run.engine.brought_again import mended_files
from pegasus_bb.run.engine.evidence import evidence
from pegasus_bb.run.engine.lost_inputs import LostInput, find_lost_inputs
from pegasus_bb.run.engine.node_table import NodeEntry, NodeState, NodeTable
from pegasus_bb.run.engine.redo import tier_seen_from_here
from pegasus_bb.run.engine.submitdir import SubmitDir
from pegasus_bb.run.engine.tier_usage import bytes_below
from pegasus_bb.runtime import reservation_identity
from pegasus_bb.runtime.backends.backend_table import open_backend
from pegasus_bb.runtime.programs.delete import remaining
from pegasus_bb.runtime.results_guard import ResultsGuard
from pegasus_bb.runtime.storage_decision import readable_decision

_LAUNCH = "launch: "  # begins what runtime/programs/launch.py says of its own
_LONGEST = 2.0  # seconds to count the bytes on a tier
_USABLE = 0.98  # of a file system; the rest it may need for itself


class FailedRun:
    """Reads files, and asks the scheduler, only on demand. Raises nothing."""

    def __init__(self, place: SubmitDir, table: NodeTable) -> None:
        self.place = place
        self._table = table
        self.bb = place.bb_dir
        self._lines: dict[str, list[str]] = {}  # by node

    @cached_property
    def failed(self) -> list[NodeEntry]:
        return [i for i in self._table.items.values() if i.state is NodeState.FAILED]

    @cached_property
    def command(self) -> PlanningCommand:
        return PlanningCommand.of_run(self.place.bb)

    @cached_property
    def request(self) -> Request | None:
        try:
            return self.bb.request() if self.bb.has_request else None
        except UsageError:
            return None

    @property
    def _is_on_the_pfs(self) -> bool:
        return readable_decision(self.bb) is not None

    def has_reserved(self, item: NodeEntry) -> bool:
        """Whether the node works on a reservation, shared or of its own."""
        shared = self.request is not None and not self._is_on_the_pfs
        return shared or self.has_own(item)

    def has_own(self, item: NodeEntry) -> bool:
        """Whether the node has a job reservation."""
        try:
            return bool(self.bb.node(item.node.name).reservation)
        except UsageError:
            return False

    @cached_property
    def uses_disks_of_nodes(self) -> bool:
        """Whether jobs work on the disk of their node, which no scheduler grants."""
        try:
            return self.bb.is_transient and not (
                self.bb.transient().kind.has_reservations
            )
        except UsageError:
            return False

    @cached_property
    def reserved(self) -> int:
        """The bytes of the shared reservation, and those of the largest of a job."""
        try:
            own = self.bb.transient().capacity if self.bb.is_transient else 0
        except UsageError:
            own = 0
        return own + (self.request.capacity if self.request else 0)

    @cached_property
    def quota(self) -> int:
        """The most that the tier lets reserve; 0 if nothing says so."""
        try:
            return parse_size(self.bb.settings().get("quota", "0"))
        except UsageError:
            return 0

    @cached_property
    def pfs_scratch(self) -> str:
        """The run's folder on the PFS; empty if it is not known."""
        try:
            placed = self.bb.placement().get("pfs_scratch") if self.request else ""
            return str(placed or self.bb.scratch())
        except UsageError:
            return ""

    @property
    def tier_below_reserved(self) -> str:
        """The folder of a reservation whose file system has run out before it; empty
        where this machine does not see that."""
        path, room = self._room
        few = self.request is not None and room < _USABLE * self.request.capacity
        return path if few else ""

    @property
    def largest_capacity(self) -> int:
        """The most that a new plan could reserve where the reservation is; 0 if this
        machine does not see that."""
        _, room = self._room
        if not room:
            return 0
        step = parse_size(self.bb.settings().get("granularity", "4MiB"))
        return int(_USABLE * room) // step * step

    @cached_property
    def _room(self) -> tuple[str, int]:
        """The folder of the reservation, and the bytes that it and its file system have
        for it; neither where this machine does not see them."""
        if self.request is None or not self.request.kind.is_one_folder:
            return "", 0
        try:
            path = open_backend(self.request.backend, self.request.settings).path(
                self.request, os.environ
            )
            used, _ = bytes_below(Path(path), _LONGEST)
            system = os.statvfs(path)
        except (PegasusBBError, OSError):
            return "", 0
        return path, used + system.f_bavail * system.f_frsize

    @cached_property
    def reservation(self) -> Reservation | None:
        """The note of a reservation that the run still has, or has asked for."""
        return unreleased_note(self.place)

    @cached_property
    def released(self) -> Reservation | None:
        """The reservation, if it was given back."""
        try:
            noted = None if self._is_on_the_pfs else self.bb.reservation()
        except UsageError:
            return None
        return noted if noted is not None and noted.released_at is not None else None

    @cached_property
    def given_back(self) -> str:
        """The name of the reservation that was given back before nodes that need it
        had ended; empty if that is not so."""
        noted = self.released
        left = [i for i in self.failed if role_of(i.node.name) is not Role.BB_DELETE]
        if noted is None or not left:
            return ""
        return noted.name if reservation_identity.has_progressed(self.bb, noted) else ""

    @cached_property
    def was_accepted(self) -> bool:
        """Whether all was done but what removes files, and the reservation was given
        back with results that are not as the run has made them."""
        ends = (*CLEANUPS, Role.BB_DELETE)
        if self.released is None or any(x not in ends for x in self._left):
            return False
        try:
            return any(ResultsGuard(self.bb, read_all=False).unsafe())
        except (PegasusBBError, OSError):
            return False

    @cached_property
    def was_ready(self) -> bool:
        noted = self.reservation
        return noted is not None and reservation_identity.was_ready(self.bb, noted)

    @cached_property
    def has_vanished(self) -> bool:
        """Whether the reservation was ready and is not there any more, with nodes left
        that need it; False if the scheduler does not answer."""
        if all(role is Role.BB_DELETE for role in self._left):
            return False
        found = self._status
        return found is not None and found.state.is_missing

    @property
    def _left(self) -> Iterator[Role]:
        """Of the nodes that are not done."""
        items = self._table.items.items()
        return (role_of(n) for n, item in items if item.state is not NodeState.DONE)

    @cached_property
    def has_copies(self) -> bool:
        """Whether a result that is not safe has a copy; True if this machine does not
        see where it would be."""
        try:
            tier = tier_seen_from_here(self.bb, self.bb.request())
            unsafe = list(ResultsGuard(self.bb, tier).unsafe())
            if not tier or not unsafe:
                return True
            return bool(remaining(self.bb, unsafe, tier))
        except (PegasusBBError, OSError):
            return True

    @cached_property
    def why_unseen(self) -> str:
        """Why nothing tells whether the reservation, which was ready, is still there;
        empty if it is known."""
        found = self._status
        return found.message if found and found.state is Reserved.UNKNOWN else ""

    @cached_property
    def _status(self) -> Status | None:
        """None if the reservation was never ready, or the scheduler does not answer."""
        if self.reservation is None or not self.was_ready:
            return None
        try:
            return reservation_identity.status(self.bb, self.reservation)
        except PegasusBBError:
            return None

    @cached_property
    def lost(self) -> list[LostInput]:
        return find_lost_inputs(self.place, *self._nodes)

    @cached_property
    def mended_too_late(self) -> tuple[str, ...]:
        """Inputs and programs that were mended after tasks have ended with them."""
        return mended_files(self.place, *self._nodes).too_late

    @property
    def _nodes(self) -> tuple[dict[str, Node], set[str], set[str]]:
        """All nodes, and the names of those that are done and that failed."""
        nodes = {name: item.node for name, item in self._table.items.items()}
        done = set(self._table.names(NodeState.DONE))
        return nodes, done, {item.node.name for item in self.failed}

    def with_status(self, status: int, *roles: Role) -> list[NodeEntry]:
        """Failed nodes whose script or job ended with ``status``; ``roles``: only
        those."""
        return [
            item
            for item in self.failed
            if (not roles or role_of(item.node.name) in roles)
            and self._ended_with(item, status)
        ]

    def _ended_with(self, item: NodeEntry, status: int) -> bool:
        """A task may end with the same status as our programs, and mean another
        thing."""
        if status == item.pre_status:
            return True
        own = role_of(item.node.name) in (Role.TASK, Role.CLUSTER)
        return status == item.status and (
            not own or any(line.startswith(_LAUNCH) for line in self.lines(item))
        )

    def lines(self, item: NodeEntry) -> list[str]:
        """The last lines that the job of ``item`` and its scripts have written. Several
        causes look at them; the files are read once."""
        name = item.node.name
        if name not in self._lines:
            found = evidence(item, self.place)
            self._lines[name] = [line for each in found for line in each.lines]
        return self._lines[name]

    def missing_program(self, item: NodeEntry) -> str:
        """The program of ``item``, or its interpreter, if this machine shows that it
        cannot be started."""
        for line in self.lines(item):
            program, separator, _ = line.strip().partition(": cannot be started: ")
            if separator and program.startswith("/") and not _can_start(program):
                return program
            if separator and (interpreter := missing_interpreter(program)):
                return interpreter
        return ""


def unreleased_note(place: SubmitDir) -> Reservation | None:
    bb = place.bb_dir
    try:
        noted = None if readable_decision(bb) else bb.reservation()
    except UsageError:  # the next run reports the problem
        return None
    over = noted is None or noted.released_at is not None or noted.failure
    return None if over else noted


def _can_start(program: str) -> bool:
    return Path(program).is_file() and os.access(program, os.X_OK)
