"""What the schedulers say about many reservations: each is asked once."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from pegasus_bb.errors import UsageError
from pegasus_bb.inventory.located import LocatedReservation
from pegasus_bb.ledger import LedgerReservation
from pegasus_bb.model.reservation import Request, Reservation, State, Status
from pegasus_bb.reservation.base import Backend, Row, Unstaged
from pegasus_bb.reservation.registry import open_backend
from pegasus_bb.runtime import reservation_identity as identity

_SLURM = "datawarp"


@dataclass
class SchedulerAnswers:
    """Statuses in the order of the reservations; rows and spaces with their backend."""

    statuses: list[Status]
    rows: list[tuple[str, Row]] = field(default_factory=list)  # of this user
    unstaged: list[tuple[str, Unstaged]] = field(default_factory=list)


@dataclass
class _Group:
    """Reservations, by number, that one scheduler is asked about."""

    name: str
    backend: Backend
    numbers: list[int] = field(default_factory=list)


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


def ask_schedulers(
    wanted: Sequence[LocatedReservation], ended: Iterable[LedgerReservation]
) -> SchedulerAnswers:
    """Of ``ended`` ones only the tiers are asked, for rows that are left."""
    groups = _Groups()
    answers = SchedulerAnswers([Status(State.UNKNOWN, one.problem) for one in wanted])
    for number, one in enumerate(wanted):
        if one.request is None:
            continue
        group = groups.of(one.request.backend, one.request.settings)
        if isinstance(group, str):
            answers.statuses[number] = Status(State.UNKNOWN, group)
        else:
            group.numbers.append(number)
    _add_others(groups, ended)
    shown: dict[tuple[str, str, float], tuple[str, Row]] = {}
    for group in groups.by_endpoint.values():
        for row in _ask(group, wanted, answers):
            shown[group.name, row.name, row.status.created] = (group.name, row)
    answers.rows = list(shown.values())
    return answers


def _add_others(groups: _Groups, ended: Iterable[LedgerReservation]) -> None:
    for entry in ended:
        settings = (entry.request or {}).get("settings")
        if isinstance(settings, dict):
            groups.of(entry.backend, {str(k): str(v) for k, v in settings.items()})
    if shutil.which("scontrol") is not None:
        groups.of(_SLURM, {})


def _ask(
    group: _Group, wanted: Sequence[LocatedReservation], answers: SchedulerAnswers
) -> list[Row]:
    if not group.numbers and group.backend.why_other_storage(""):
        return []  # a folder that is not a tier any more, or not mounted
    requests = [(n, r) for n in group.numbers if (r := wanted[n].request) is not None]
    found = group.backend.list_reservations([request for _, request in requests])
    answers.unstaged += ((group.name, space) for space in found.unstaged)
    for (number, request), status in zip(requests, found.statuses, strict=True):
        judged = _judged(wanted[number], request, group.backend, status)
        answers.statuses[number] = judged
    return [row for row in found.rows if row.own]


def _judged(
    one: LocatedReservation, request: Request, backend: Backend, found: Status
) -> Status:
    """As the gate judges: is it there, and is it what this run asked for?"""
    shared = one.bb if not one.is_of_one_job else None  # a job's own leaves no notes
    try:
        noted = shared.reservation() if shared else None
    except UsageError as error:  # notes that cannot be read
        return Status(State.UNKNOWN, str(error))
    place = identity.last_place(shared) if shared else ""
    if one.bb is None:
        found = identity.on_storage(backend, request, "", found)
    elif shared is not None and noted is not None:
        found = identity.judge(shared, backend, request, noted, found)
    elif found.state is State.ABSENT and place:
        found = identity.on_storage(backend, request, place, found)
    if found.state in (State.ABSENT, State.UNKNOWN):
        return found
    noted = noted or Reservation(
        request.name, request.backend, request.uuid, one.entry.time
    )
    message = identity.mismatch(found, request, noted)
    return replace(found, state=State.FAILED, message=message) if message else found
