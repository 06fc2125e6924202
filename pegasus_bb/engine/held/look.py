"""What the schedulers say about many reservations: each is asked once."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from pegasus_bb.engine.held.asked import Case
from pegasus_bb.errors import UsageError
from pegasus_bb.ledger import Asked
from pegasus_bb.model.reservation import Request, Reservation, State, Status
from pegasus_bb.reservation.base import Backend, Row, Unstaged
from pegasus_bb.reservation.registry import open_backend
from pegasus_bb.runtime import reservation_identity
from pegasus_bb.runtime.orphan import orphan_status

_SLURM = "datawarp"


@dataclass
class Seen:
    """The answers."""

    statuses: list[Status] = field(default_factory=list)  # of the cases, in their order
    rows: list[tuple[str, Row]] = field(default_factory=list)  # of this user; backend
    unstaged: list[tuple[str, Unstaged]] = field(default_factory=list)


@dataclass
class _Group:
    """Cases that one scheduler is asked about."""

    name: str
    backend: Backend
    cases: list[int] = field(default_factory=list)


class _Groups:
    def __init__(self) -> None:
        self._of_settings: dict[object, _Group | str] = {}
        self.by_endpoint: dict[tuple[str, str], _Group] = {}

    def of(self, backend: str, settings: dict[str, str]) -> _Group | str:
        """The group, or why there is none."""
        key = (backend, *sorted(settings.items()))
        if key not in self._of_settings:
            self._of_settings[key] = self._made(backend, settings)
        return self._of_settings[key]

    def _made(self, name: str, settings: dict[str, str]) -> _Group | str:
        try:
            backend = open_backend(name, settings)
        except UsageError as error:
            return str(error)
        return self.by_endpoint.setdefault(
            (name, backend.endpoint_id()), _Group(name, backend)
        )


def look(cases: Sequence[Case], ended: Iterable[Asked]) -> Seen:
    """Of ``ended`` ones only the tiers are asked, for what is there all the same."""
    groups = _Groups()
    nothing = [Status(State.UNKNOWN, case.problem) for case in cases]
    seen = Seen(statuses=nothing)
    for number, case in enumerate(cases):
        if case.request is None:
            continue
        group = groups.of(case.request.backend, case.request.settings)
        if isinstance(group, str):
            seen.statuses[number] = Status(State.UNKNOWN, group)
        else:
            group.cases.append(number)
    _add_others(groups, ended)
    shown: dict[tuple[str, str, float], tuple[str, Row]] = {}
    for group in groups.by_endpoint.values():
        for row in _ask(group, cases, seen):
            shown[group.name, row.name, row.status.created] = (group.name, row)
    seen.rows = list(shown.values())
    return seen


def _add_others(groups: _Groups, ended: Iterable[Asked]) -> None:
    for asked in ended:
        settings = (asked.request or {}).get("settings")
        if isinstance(settings, dict):
            groups.of(asked.backend, {str(k): str(v) for k, v in settings.items()})
    if shutil.which("scontrol") is not None:
        groups.of(_SLURM, {})


def _ask(group: _Group, cases: Sequence[Case], seen: Seen) -> list[Row]:
    if not group.cases and group.backend.why_other_storage(""):
        return []  # a folder that is not a tier any more, or not mounted
    mine = [cases[number] for number in group.cases]
    found = group.backend.look([case.request for case in mine if case.request])
    seen.unstaged += ((group.name, space) for space in found.unstaged)
    for number, case, status in zip(group.cases, mine, found.statuses, strict=True):
        if case.request is not None:
            seen.statuses[number] = _judged(case, case.request, group.backend, status)
    return [row for row in found.rows if row.own]


def _judged(case: Case, request: Request, backend: Backend, found: Status) -> Status:
    """As the gate judges: is it there, and is it what this run asked for?"""
    shared = case.bb if not case.is_of_a_job else None  # a job's own leaves no notes
    try:
        noted = shared.reservation() if shared else None
    except UsageError as error:  # notes that cannot be read
        return Status(State.UNKNOWN, str(error))
    if case.bb is None:
        found = orphan_status(backend, request, found)
    elif shared is not None and noted is not None:
        found = reservation_identity.judged(shared, backend, request, noted, found)
    elif (
        found.state is State.ABSENT
        and shared
        and reservation_identity.last_place(shared)
    ):
        place = reservation_identity.last_place(shared)
        found = reservation_identity.elsewhere(backend, request, place) or found
    if found.state in (State.ABSENT, State.UNKNOWN):
        return found
    noted = noted or Reservation(
        request.name, request.backend, request.uuid, case.asked.time
    )
    words = reservation_identity.mismatch(found, request, noted)
    return replace(found, state=State.FAILED, message=words) if words else found
