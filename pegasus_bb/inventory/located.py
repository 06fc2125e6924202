"""A reservation on the ledger, and where its run and its request are now."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pegasus_bb.errors import UsageError
from pegasus_bb.ledger import LedgerReservation
from pegasus_bb.model.reservation import Request, check_reservation_name
from pegasus_bb.runtime.bbdir import BBDir


@dataclass(frozen=True)
class LocatedReservation:
    """What is known before a scheduler is asked."""

    entry: LedgerReservation
    bb: BBDir | None  # None: its submit directory cannot be seen from here
    request: Request | None  # None: nothing says how to ask about it
    problem: str = ""  # why that is so

    @property
    def submit_dir(self) -> str:
        """Where it is, else where it was."""
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
        self._listed: dict[str, dict[str, list[str]] | None] = {}

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
        runs = self._listed[parent]
        names = [name] if runs is None else runs.get(name, [])
        places = (_of(Path(parent, found), entry) for found in names)
        return next((bb for bb in places if bb is not None), None)


def _runs(parent: str) -> dict[str, list[str]] | None:
    """Name of a run in ``parent`` -> itself, and where --force has moved earlier ones
    of that name to; None where this user may not list the folder."""
    found: dict[str, list[str]] = {}
    try:
        with os.scandir(parent) as entries:
            names = sorted(entry.name for entry in entries)
    except PermissionError:
        return None
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
    if not noted and entry.backend == "datawarp":  # its name is all that Slurm needs
        noted = _least(entry)
    try:
        request = Request.from_json(noted)
    except TypeError:
        raise UsageError(
            "its submit directory is not there, and its line of the ledger, of an "
            "older run, does not say where its tier is"
        ) from None
    if not isinstance(request.capacity, int) or not _is_text(request.settings):
        raise UsageError("its line of the ledger was edited and cannot be used")
    if (request.name, request.uuid) != (entry.name, entry.uuid):
        raise UsageError("its line of the ledger tells of two reservations")
    check_reservation_name(request.name)
    return replace(request, backend=entry.backend)


def _is_text(settings: Any) -> bool:
    return isinstance(settings, dict) and all(
        isinstance(value, str) for value in settings.values()
    )


def _least(entry: LedgerReservation) -> dict[str, Any]:
    return {
        "name": entry.name,
        "backend": entry.backend,
        "capacity": entry.size,
        "prefix": f"/bb/{entry.name}",
        "uuid": entry.uuid,
        "tier": "",
        "site": "",
    }
