"""A reservation on the ledger, and where its run and its request are now."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pegasus_bb.errors import UsageError
from pegasus_bb.ledger import Asked
from pegasus_bb.model.reservation import Request, check_reservation_name
from pegasus_bb.runtime.bbdir import BBDir


@dataclass(frozen=True)
class Case:
    """What is known without asking anybody."""

    asked: Asked
    bb: BBDir | None  # None: its submit directory is not to be seen from here
    request: Request | None  # None: nobody knows how to ask about it
    problem: str = ""  # why that is so

    @property
    def submit_dir(self) -> str:
        """Where it is, else where it was."""
        return str(Path(self.bb.path).parent) if self.bb else self.asked.submit_dir

    @property
    def is_of_a_job(self) -> bool:
        """Whether one job of its run had it, and no other."""
        return self.bb is not None and is_of_a_job(self.bb, self.asked.name)

    @property
    def is_of_another_host(self) -> bool:
        """Whether bb_setup ran elsewhere; False where no line tells."""
        return self.asked.host not in ("", socket.gethostname())


def is_of_a_job(bb: BBDir, name: str) -> bool:
    """Whether ``name``, which the run of ``bb`` asked for, was one job's alone: in mode
    hybrid one reservation is all jobs'. Raises UsageError."""
    if not bb.is_transient:
        return False
    return not bb.has_request or bb.request().name != name


class Finder:
    """Finds the cases of many reservations; each folder of runs is listed once."""

    def __init__(self) -> None:
        self._listed: dict[str, dict[str, list[str]] | None] = {}

    def case(self, asked: Asked) -> Case:
        """Raises nothing: what cannot be read is a problem of that case."""
        bb = self.bb(asked)
        try:
            own = bb is None or is_of_a_job(bb, asked.name)
            request = _request(asked) if bb is None or own else bb.request()
        except UsageError as error:
            return Case(asked, None, None, str(error))
        return Case(asked, bb, request)

    def bb(self, asked: Asked) -> BBDir | None:
        """The bb folder of that very run, also where --force has moved it aside."""
        parent, name = os.path.split(asked.submit_dir)
        if parent not in self._listed:
            self._listed[parent] = _runs(parent)
        runs = self._listed[parent]
        names = [name] if runs is None else runs.get(name, [])
        places = (_of(Path(parent, found), asked) for found in names)
        return next((bb for bb in places if bb is not None), None)


def _runs(parent: str) -> dict[str, list[str]] | None:
    """Name of a run in ``parent`` -> itself, and where --force has moved earlier ones
    of that name to; None where only who knows a name may look."""
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


def _of(folder: Path, asked: Asked) -> BBDir | None:
    """Whether it is of the run meant, not of a later one in its place."""
    bb = BBDir(str(folder / "bb"))
    try:
        if bb.is_transient:  # each of its jobs asks for a name of its own
            return bb if bb.transient().uuid == asked.uuid else None
    except UsageError:
        return None
    if not bb.has_request:
        return None
    try:
        request = bb.request()
    except UsageError:
        return None
    same = request.name == asked.name and asked.uuid in ("", request.uuid)
    return bb if same else None


def _request(asked: Asked) -> Request:
    """As the ledger has it. Raises UsageError."""
    noted = asked.request or {}
    if not noted and asked.backend == "datawarp":  # its name is all that Slurm needs
        noted = _least(asked)
    try:
        request = Request.from_json(noted)
    except TypeError:
        raise UsageError(
            "its submit directory is not there, and its line of the ledger, of an "
            "older run, does not say where its tier is"
        ) from None
    if not isinstance(request.capacity, int) or not _is_text(request.settings):
        raise UsageError("its line of the ledger was edited and cannot be used")
    if (request.name, request.uuid) != (asked.name, asked.uuid):
        raise UsageError("its line of the ledger tells of two reservations")
    check_reservation_name(request.name)
    return replace(request, backend=asked.backend)


def _is_text(settings: Any) -> bool:
    return isinstance(settings, dict) and all(
        isinstance(value, str) for value in settings.values()
    )


def _least(asked: Asked) -> dict[str, Any]:
    return {
        "name": asked.name,
        "backend": asked.backend,
        "capacity": asked.size,
        "prefix": f"/bb/{asked.name}",
        "uuid": asked.uuid,
        "tier": "",
        "site": "",
    }
