"""The ``slurm-lua`` backend: buffers of Slurm's burst_buffer/lua plugin and our hooks.

Slurm authenticates the user of ``scontrol show bbstat ARGUMENTS`` to burst_buffer.lua,
and the staging service behind it answers with one line of JSON (docs/slurm-lua.md lists
the arguments). Keys of the tier: ``timeout`` of a delete (15m), ``poll`` while it waits
(1s), ``service``: transfers run on the submit host.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping, Sequence

from pegasus_bb.core.errors import ReservationFailed, SchedulerUnreachable
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.core.process import ask
from pegasus_bb.core.units import format_size
from pegasus_bb.model.reservation import (
    Request,
    Reservation,
    State,
    Status,
    check_reservation_name,
)
from pegasus_bb.runtime.backends.base import (
    Listing,
    PoolSpace,
    ReservationRow,
    Unstaged,
)
from pegasus_bb.runtime.backends.slurm_backend import SlurmBackend

if TYPE_CHECKING:
    from typing import Any

    Buffer = dict[str, Any]  # as pegasus_bb/stager/slurm/buffers.py writes it

VARIABLE = "BB_PERSISTENT_"
_VERSION = 1
# Error codes for which a retry may help.
_TRANSIENT = ("away", "busy", "lost", "not-now")
_WORD = re.compile("[A-Za-z0-9_.-]+")
_STATES = {
    "pending": State.PENDING,
    "ready": State.READY,
    "deleting": State.DELETING,
}


class RequestRefused(ReservationFailed):
    """The service refuses the request. ``code`` is for programs."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class _Answer(dict[str, "Any"]):
    """An object of the service's answer; a missing part leaves all unknown."""

    def __missing__(self, key: str) -> Any:
        raise SchedulerUnreachable(
            f"the staging service's answer has no {key!r}: is it of another version? "
            "Install the same pegasus_bb on both sides"
        )


class SlurmLua(SlurmBackend):
    """Each call is one scontrol, which Slurm authenticates."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        """Raises UsageError if a key is invalid."""
        super().__init__(settings, poll="1s")
        self.has_service = bool(settings.get("service"))

    def create(self, request: Request) -> Reservation:
        name = check_reservation_name(request.name)
        self._check_size(request)
        pool = [f"pool={_word('pool', request.pool)}"] if request.pool else []
        uuid = _word("uuid", request.uuid)
        size = f"capacity={int(request.capacity)}"
        made = _buffer("create", f"name={name}", size, f"uuid={uuid}", *pool)
        if made is not None:
            self._check_large_enough(made, request)
        return Reservation.of(request, time.time(), job=request.uuid, owner=self.owner)

    def get_status(self, request: Request) -> Status:
        buffer = _buffer("status", f"name={check_reservation_name(request.name)}")
        return self._status_for(buffer, request)

    def get_listing(self, requests: Sequence[Request]) -> Listing:
        answer = _ask("list")
        buffers = {buffer["name"]: buffer for buffer in answer["buffers"]}
        return Listing(
            [self._status_for(buffers.get(r.name), r) for r in requests],
            [
                ReservationRow(
                    name, buffer["uid"] == self.uid, self._status_of_buffer(buffer)
                )
                for name, buffer in buffers.items()
            ],
            unstaged=[
                Unstaged(str(k["job"]), k["size"], k["created"], k["message"])
                for k in answer["kept"]
                if k["uid"] == self.uid
            ],
        )

    def path(self, request: Request, environ: Mapping[str, str]) -> str:
        variable = f"{VARIABLE}{check_reservation_name(request.name)}"
        path = environ.get(variable, "")
        by = f"${variable}"
        if not path and self.has_service and "SLURM_JOB_ID" not in environ:
            # on the submit host
            path = self._path_from_slurm(request)
            by = "Slurm"
        return self.use_folder(
            path,
            by,
            request,
            unset=_missing_buffer_message(request, environ),
            not_here=f"the pool of reservation {request.name} is not mounted here",
        )

    def _path_from_slurm(self, request: Request) -> str:
        """Raises SchedulerUnreachable, ReservationFailed."""
        buffer = _buffer("status", f"name={request.name}")
        status = self._status_for(buffer, request)
        if buffer is None or status.state is not State.READY:
            raise ReservationFailed(
                f"reservation {request.name} cannot be used: it is "
                f"{status.state.value}; {status.message}"
            )
        return str(buffer["path"])

    def delete(self, request: Request) -> None:
        which = (f"name={check_reservation_name(request.name)}", f"uuid={request.uuid}")
        until = time.monotonic() + self.timeout
        while _buffer("delete", *which) is not None:
            if time.monotonic() >= until:
                raise ReservationFailed(
                    f"buffer {request.name} is still there {self.timeout} s after its "
                    "end was asked for: its files are being removed. Delete again later"
                )
            time.sleep(self.poll)

    def pools(self) -> list[PoolSpace]:
        return [
            PoolSpace(p["name"], p["granularity"], p["total"], p["free"])
            for p in _ask("list")["pools"]
        ]

    def all_buffers(self) -> list[Buffer]:
        """The persistent buffers of all users. Raises SchedulerUnreachable,
        ReservationFailed."""
        return list(_ask("list")["buffers"])

    def trouble(self) -> str:
        """Why the staging service can write nothing now; empty where it can. Raises
        SchedulerUnreachable, ReservationFailed."""
        return str(_ask("list").get("trouble", ""))

    def _status_for(self, buffer: Buffer | None, request: Request) -> Status:
        if buffer is None:
            return Status(State.ABSENT, f"Slurm's site has no buffer {request.name}")
        shown = self._status_of_buffer(buffer)
        try:
            self._check_owner(buffer, request)
            self._check_large_enough(buffer, request)
        except ReservationFailed as error:
            return Status(
                State.FAILED, str(error), shown.owner, shown.size, shown.created
            )
        return shown

    def _status_of_buffer(self, buffer: Buffer) -> Status:
        state = _STATES.get(buffer["state"], State.UNKNOWN)
        message = f"{buffer['state']} in pool {buffer['pool']}"
        if state is State.PENDING:
            message += f": {buffer.get('reason', 'it waits for room')}"
        owner = self.owner if buffer["uid"] == self.uid else buffer["user"]
        size = buffer["size"]
        created = buffer["created"]
        return Status(state, message, owner, size, created, buffer["uuid"])

    def _check_size(self, request: Request) -> None:
        pools = self.pools()
        named = [p for p in pools if p.name == request.pool or not request.pool]
        if not named:
            known = ", ".join(pool.name for pool in pools)
            raise ReservationFailed(
                f"this site has no pool {request.pool!r}; there are {known}. Name one "
                "of them in the tier (`pool`), or none, and plan again"
            )
        if not 0 < request.capacity <= named[0].total:
            raise ReservationFailed(
                f"reservation {request.name} asks for {format_size(request.capacity)}; "
                f"pool {named[0].name} has {format_size(named[0].total)} in all. Plan "
                "again with another capacity (--bb-capacity)"
            )

    def _check_owner(self, buffer: Buffer, request: Request) -> None:
        if (buffer["uid"], buffer["uuid"]) != (self.uid, request.uuid):
            raise ReservationFailed(
                f"the name {request.name} belongs to {buffer['user']} (uid "
                f"{buffer['uid']}), run {buffer['uuid']}; plan again: a new run gets a "
                "new name"
            )

    def _check_large_enough(self, buffer: Buffer, request: Request) -> None:
        if buffer["size"] < request.capacity:
            raise ReservationFailed(
                f"buffer {request.name} was made with {format_size(buffer['size'])}, "
                f"less than the {format_size(request.capacity)} that this run asks "
                f"for. Give it back with `pegasus-bb release {request.name}`, or plan "
                "again"
            )


def kept_results(job: str) -> list[dict[str, Any]]:
    """Results of this user's ``job`` that the service keeps because their stage-out
    failed. Raises SchedulerUnreachable, ReservationFailed."""
    rows = [row for row in _ask("list")["kept"] if row["uid"] == os.getuid()]
    return [row for row in rows if str(row["job"]) == job]


def discard_results(job: str) -> None:
    """Discard kept results, if any. Raises SchedulerUnreachable, ReservationFailed."""
    try:
        _ask("discard", f"job={job}")
    except RequestRefused as error:
        if error.code != "not-kept":
            raise


def _buffer(*arguments: str) -> Buffer | None:
    buffer: Buffer | None = _ask(*arguments)["buffer"]
    return buffer


def _ask(*arguments: str) -> dict[str, Any]:
    """The service's answer. Raises SchedulerUnreachable, and ReservationFailed if it
    refuses, or if this Slurm does not have our burst_buffer.lua."""
    argv = ["scontrol", "show", "bbstat", *arguments]
    answer = ask(argv, timeout=60.0)
    if answer.status == 127:
        raise ReservationFailed(
            f"{answer.err.strip()}: no Slurm on this machine's PATH"
        )
    output = answer.one_line[:300]
    line = next((x for x in answer.out.splitlines() if x.startswith("{")), "")
    if not line:
        if answer.status != 0 or "Error running" in output:
            raise SchedulerUnreachable(f"{' '.join(argv)}: {output or 'no output'}")
        raise ReservationFailed(
            f"`{' '.join(argv)}` says {output!r}: this Slurm does not have our "
            "burst_buffer.lua. An administrator installs it: pegasus-bb site install"
        )
    return _read(line)


def _read(line: str) -> dict[str, Any]:
    try:
        answer = json.loads(line, object_hook=_Answer)
        error = answer.get("error")
        if error is None and answer["v"] == _VERSION:
            return _Answer(answer["ok"])
    except (ValueError, KeyError, TypeError, AttributeError):
        error = {"code": "lost", "message": f"the answer cannot be read: {line[:200]}"}
    if error is None:
        raise ReservationFailed(
            f"the staging service speaks version {answer['v']}, this is {_VERSION}: "
            "install the same pegasus_bb on both sides"
        )
    code = str(error.get("code"))
    message = str(error.get("message"))
    if code in _TRANSIENT:
        raise SchedulerUnreachable(message)
    raise RequestRefused(code, message)


def _word(key: str, value: str) -> str:
    if _WORD.fullmatch(value) is None:
        raise ReservationFailed(
            f"{key} {value!r} cannot be asked for: letters, digits, _ . - only"
        )
    return value


def _missing_buffer_message(request: Request, environ: Mapping[str, str]) -> str:
    """Why a job has no buffer, and how to find out which cause it is."""
    number = environ.get("SLURM_JOB_ID", "NUMBER")
    return (
        f"Slurm was not given its `#BB_LUA persist use {request.name}`\n"
        f"  see:    `scontrol show job {number}` has no line BurstBuffer= where Slurm "
        "was not given it\n"
        "  likely: blahp's slurm_local_submit_attributes.sh, which hands it on, is "
        "missing on the submit host (docs/how-to/slurm-datawarp.md, administrator 3)"
    )
