"""<submit>/bb: the files that a run's own programs read and write."""

from __future__ import annotations

import os
import sys

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import UNREADABLE, read_json, write_json
from pegasus_bb.core.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar

    from pegasus_bb.model.reservation import Request, Reservation

    T = TypeVar("T")

VERSION = 2  # of the files of bb/, as plan.json has it
NODES = "nodes"  # folder of files that single nodes need
ARCHIVE = "runtime.zip"
# In the environment of a job whose node does not see the submit directory: its path.
SUBMIT_DIR = "PEGASUS_BB_SUBMIT_DIR"
ELSEWHERE = "elsewhere"  # folder of notes on jobs on the PFS because the tier is full
FAILED = "failed"  # folder of what failed jobs have left, where the user asks for it


class NodeNeeds(NamedTuple):
    """A node of the DAG and what its job needs. Most nodes need nothing."""

    name: str
    links: Mapping[str, str] = {}  # LFN -> path on the PFS
    reservation: Mapping[str, Any] = {}  # its job reservation; empty if it has none
    pools: Mapping[str, str] = {}  # LFN -> pool of the tier
    hints: Mapping[str, int] = {}  # LFN of an output that launch creates -> hint
    private: Mapping[str, Any] = {}  # of its private folder; empty if it has none
    # LFN -> planned path: of a job that reads links to the PFS, in a shared folder.
    outputs: Mapping[str, str] = {}


class BBDir:
    """The bb folder of a submit directory. docs/reference/submit-directory.md lists
    its files."""

    def __init__(self, path: str, nodes: str = NODES) -> None:
        """``nodes``: the folder of nodes' files in it."""
        self.path = os.path.abspath(path)
        self._nodes = nodes

    @classmethod
    def of_this_program(cls) -> BBDir:
        """The folder whose bin/ holds the program that is running; or, of a job that
        has travelled, the folder where all that came with it lies."""
        here = os.path.dirname(os.path.abspath(sys.argv[0]))
        if SUBMIT_DIR not in os.environ:
            return cls(os.path.dirname(here))
        came_here = os.path.exists(os.path.join(here, ARCHIVE))
        return cls(here if came_here else os.path.dirname(here), nodes="")

    def file(self, name: str) -> str:
        return os.path.join(self.path, name)

    @property
    def submit_dir(self) -> str:
        return os.path.dirname(self.path)

    @property
    def is_ours(self) -> bool:
        """Whether this user has planned the run."""
        return os.stat(self.path).st_uid == os.geteuid()

    @property
    def has_travelled(self) -> bool:
        """Whether this is the folder of files that came with a job to its node."""
        return not self._nodes

    def as_seen_here(self, folder: str) -> str:
        """``folder``, the scratch of the run on the submit host; or, of a job that has
        travelled, what came with it of that folder."""
        return self.file(os.path.basename(folder)) if self.has_travelled else folder

    @property
    def has_request(self) -> bool:
        """Whether this run uses a burst buffer at all (mode off has no request)."""
        return os.path.exists(self.file("request.json"))

    def request(self) -> Request:
        """The planned request. Raises UsageError if it cannot be read."""
        from pegasus_bb.model.reservation import Request

        advice = "is this the bb folder of a submit directory that pegasus-bb planned?"
        return self._read("request.json", Request.from_json, advice)

    @property
    def is_transient(self) -> bool:
        """Whether jobs of this run may have job reservations."""
        return os.path.exists(self.file("transient.json"))

    def transient(self) -> Request:
        """What the job reservations have in common; ``prefix`` is the run's folder on
        the PFS. Raises UsageError if it cannot be read."""
        from pegasus_bb.model.reservation import Request

        return self._read("transient.json", Request.from_json)

    def settings(self) -> Mapping[str, str]:
        """The keys of the tier, of the shared one if there are two; empty in mode off.
        Raises UsageError if they cannot be read."""
        if self.has_request:
            return self.request().settings
        return self.transient().settings if self.is_transient else {}

    def node(self, name: str) -> NodeNeeds:
        """What node ``name`` needs at its start. Raises UsageError."""
        file = os.path.join(self._nodes, f"{name}.json")
        if not os.path.exists(self.file(file)):
            return NodeNeeds(name)
        data = self._read(file, dict)
        return NodeNeeds(name, *(data.get(key, {}) for key in NodeNeeds._fields[1:]))

    def node_of_job(self, environ: Mapping[str, str]) -> NodeNeeds:
        """The node of this job. Raises UsageError if it is not known."""
        name = environ.get("PEGASUS_DAG_JOB_ID", "")
        if name and "/" not in name:
            return self.node(name)
        if os.path.isdir(self.file(self._nodes)) and os.listdir(self.file(self._nodes)):
            raise UsageError(
                f"PEGASUS_DAG_JOB_ID is {name!r}, so the files of this job are not "
                "known; the submit file must set it in the job's environment"
            )
        return NodeNeeds("")

    def _read(
        self, name: str, make: Callable[[Any], T], advice: str = "plan again"
    ) -> T:
        try:
            return make(read_json(self.file(name)))
        except UNREADABLE as error:
            raise UsageError(
                f"{self.file(name)}: cannot be read ({error}); {advice}"
            ) from error

    def scratch(self) -> str:
        """The run's folder as it was planned. Raises UsageError."""
        return str(self._read("plan.json", dict).get("scratch", ""))

    def label(self) -> str:
        return self._planned("label")

    def site(self) -> str:
        """Where the tasks run."""
        return self._planned("site")

    def _planned(self, key: str) -> str:
        """What plan.json has; empty if it cannot be read."""
        try:
            return str(read_json(self.file("plan.json"))[key])
        except UNREADABLE:
            return ""

    def reservation(self) -> Reservation | None:
        """The note of setup, or None before setup. Raises UsageError."""
        if not os.path.exists(self.file("reservation.json")):
            return None
        from pegasus_bb.model.reservation import Reservation

        advice = "remove it and run again: what is this run's is found and noted again"
        return self._read("reservation.json", Reservation.from_json, advice)

    def note_reservation(self, reservation: Reservation) -> None:
        """Replace the note by ``reservation``, durably."""
        write_json(self.file("reservation.json"), reservation.to_json())

    def placement(self) -> dict[str, Any]:
        """placement.json, or an empty one if the run uses no tier (mode off).

        Raises UsageError if it cannot be read, or is of another run. An empty one would
        promise no results, and the reservation would be released without a check.
        """
        if not self.has_request:
            return {"files": {}, "outputs": {}}
        try:
            data = read_json(self.file("placement.json"))
        except (OSError, ValueError) as error:
            raise self._no_placement(str(error)) from error
        if not isinstance(data, dict) or not all(
            isinstance(data.get(key), dict) for key in ("files", "outputs")
        ):
            raise self._no_placement("it does not say which files there are")
        prefix = self.request().prefix
        if data.get("prefix") != prefix:
            raise self._no_placement(f"it is not for {prefix}")
        return data

    def _no_placement(self, why: str) -> UsageError:
        return UsageError(
            f"{self.file('placement.json')}: cannot be used ({why}); without it "
            "the promised results are unknown, so everything is kept. Where planning "
            "was killed: plan again"
        )
