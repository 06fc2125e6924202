"""A reservation on the ledger: where its run is, and what its scheduler says."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.ledger import LedgerReservation
from pegasus_bb.model.backends import KINDS
from pegasus_bb.model.reservation import (
    Request,
    Reservation,
    State,
    Status,
    check_reservation_name,
)
from pegasus_bb.runtime import reservation_identity as identity
from pegasus_bb.runtime.backends.backend_table import open_backend
from pegasus_bb.runtime.backends.base import Backend, ReservationRow, Unstaged
from pegasus_bb.runtime.bbdir import BBDir


@dataclass(frozen=True)
class LocatedReservation:
    entry: LedgerReservation
    bb: BBDir | None  # None: its submit directory cannot be seen from here
    request: Request | None  # None: nothing says how to ask about it
    problem: str = ""  # why that is so

    @property
    def submit_dir(self) -> str:
        return str(Path(self.bb.path).parent) if self.bb else self.entry.submit_dir

    @property
    def is_of_one_job(self) -> bool:
        """Whether one job of its run had it, and no other."""
        return self.bb is not None and is_of_one_job(self.bb, self.entry.name)

    @property
    def is_of_another_host(self) -> bool:
        """Whether bb_setup ran on another host; False where no line tells."""
        return self.entry.host not in ("", socket.gethostname())


def is_of_one_job(bb: BBDir, name: str) -> bool:
    """Whether one job of the run of ``bb`` asked for ``name``: in mode hybrid all jobs
    share one reservation. Raises UsageError."""
    if not bb.is_transient:
        return False
    return not bb.has_request or bb.request().name != name


class RunFinder:
    """Finds the runs of many reservations; lists each folder of runs once."""

    def __init__(self) -> None:
        self._listed: dict[str, dict[str, list[str]]] = {}

    def locate(self, entry: LedgerReservation) -> LocatedReservation:
        """Raises nothing: the answer says what cannot be read."""
        bb = self._bb(entry)
        try:
            own = bb is None or is_of_one_job(bb, entry.name)
            request = _request(entry) if bb is None or own else bb.request()
        except UsageError as error:
            return LocatedReservation(entry, None, None, str(error))
        return LocatedReservation(entry, bb, request)

    def _bb(self, entry: LedgerReservation) -> BBDir | None:
        """The bb folder of that very run, also where --force has moved it aside."""
        parent, name = os.path.split(entry.submit_dir)
        if parent not in self._listed:
            self._listed[parent] = _runs(parent)
        names = self._listed[parent].get(name, [])
        places = (_of(Path(parent, found), entry) for found in names)
        return next((bb for bb in places if bb is not None), None)


def _runs(parent: str) -> dict[str, list[str]]:
    """Name of a run in ``parent`` -> itself, and where --force has moved earlier ones
    of that name to; empty where the folder cannot be listed."""
    found: dict[str, list[str]] = {}
    try:
        with os.scandir(parent) as entries:
            names = sorted(entry.name for entry in entries)
    except (OSError, ValueError):
        return {}
    for name in names:
        found.setdefault(name, []).append(name)
        if name[-4:-3] == "." and name[-3:].isdigit():
            found.setdefault(name[:-4], []).append(name)
    return found


def _of(folder: Path, entry: LedgerReservation) -> BBDir | None:
    """The bb folder where it is of the run meant, not of a later one in its place."""
    bb = BBDir(str(folder / "bb"))
    try:
        if bb.is_transient:  # each of its jobs asks for a name of its own
            return bb if bb.transient().uuid == entry.uuid else None
        if not bb.has_request:
            return None
        request = bb.request()
    except UsageError:
        return None
    same = request.name == entry.name and entry.uuid in ("", request.uuid)
    return bb if same else None


def _request(entry: LedgerReservation) -> Request:
    """As the ledger has it. Raises UsageError."""
    noted = entry.request or {}
    try:
        request = Request.from_json(noted)
    except TypeError:
        raise UsageError(
            "its submit directory is not there, and its line of the ledger, of an "
            "older run, does not say where its tier is"
        ) from None
    settings: Any = request.settings
    is_text = isinstance(settings, dict) and all(
        isinstance(value, str) for value in settings.values()
    )
    if not isinstance(request.capacity, int) or not is_text:
        raise UsageError("its line of the ledger was edited and cannot be used")
    if (request.name, request.uuid) != (entry.name, entry.uuid):
        raise UsageError("its line of the ledger tells of two reservations")
    check_reservation_name(request.name)
    return request._replace(backend=entry.backend)


@dataclass
class SchedulerAnswers:
    """Statuses in the order of the reservations; rows and spaces with their backend."""

    statuses: list[Status]
    rows: list[tuple[str, ReservationRow]] = field(default_factory=list)  # of this user
    unstaged: list[tuple[str, Unstaged]] = field(default_factory=list)


Endpoint = tuple[str, str]  # backend, and which scheduler of it


class _Schedulers:
    """Opens each scheduler once, whatever the settings that name it."""

    def __init__(self) -> None:
        self._endpoints: dict[object, Endpoint] = {}
        self.backends: dict[Endpoint, Backend] = {}

    def endpoint(self, name: str, settings: Mapping[str, str]) -> Endpoint:
        """Raises UsageError where there is no such backend."""
        key = (name, *sorted(settings.items()))
        if key not in self._endpoints:
            backend = open_backend(name, settings)
            self._endpoints[key] = (name, backend.endpoint_id())
            self.backends.setdefault(self._endpoints[key], backend)
        return self._endpoints[key]


def ask_schedulers(
    wanted: Sequence[LocatedReservation], ended: Iterable[LedgerReservation]
) -> SchedulerAnswers:
    """Of ``ended`` ones only the tiers are asked, for rows that are left."""
    known = _Schedulers()
    answers = SchedulerAnswers([Status(State.UNKNOWN, one.problem) for one in wanted])
    numbers: dict[Endpoint, list[int]] = {}
    for number, one in enumerate(wanted):
        if one.request is None:
            continue
        try:
            endpoint = known.endpoint(one.request.backend, one.request.settings)
        except UsageError as error:
            answers.statuses[number] = Status(State.UNKNOWN, str(error))
        else:
            numbers.setdefault(endpoint, []).append(number)
    _add_others(known, ended)
    shown: dict[tuple[str, str, float], tuple[str, ReservationRow]] = {}
    for endpoint, backend in known.backends.items():
        name = endpoint[0]
        asked = {number: wanted[number] for number in numbers.get(endpoint, ())}
        for row in _ask(name, backend, asked, answers):
            shown[name, row.name, row.status.created] = (name, row)
    answers.rows = list(shown.values())
    return answers


def _add_others(known: _Schedulers, ended: Iterable[LedgerReservation]) -> None:
    others: list[tuple[str, dict[str, str]]] = []
    for entry in ended:
        settings = (entry.request or {}).get("settings")
        if isinstance(settings, dict):
            others.append(
                (entry.backend, {str(k): str(v) for k, v in settings.items()})
            )
    if shutil.which("scontrol") is not None:  # which of them it has, its answer tells
        others += [(kind.name, {}) for kind in KINDS.values() if kind.is_slurm]
    for name, settings in others:
        with suppress(UsageError):
            known.endpoint(name, settings)


def _ask(
    name: str,
    backend: Backend,
    asked: Mapping[int, LocatedReservation],
    answers: SchedulerAnswers,
) -> list[ReservationRow]:
    if not asked and backend.why_other_storage(""):
        return []  # a folder that is not a tier any more, or not mounted
    requests = [(n, one.request) for n, one in asked.items() if one.request is not None]
    found = backend.list_reservations([request for _, request in requests])
    answers.unstaged += ((name, space) for space in found.unstaged)
    for (number, request), status in zip(requests, found.statuses, strict=True):
        answers.statuses[number] = _judged(asked[number], request, backend, status)
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
    place = identity.last_storage_id(shared) if shared else ""
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
    return found._replace(state=State.FAILED, message=message) if message else found
