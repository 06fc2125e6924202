"""A wrapper that delays a backend or makes its calls fail, for tests and teaching.

The tier's key ``delay`` is the time from a request until its reservation is ready. The
key ``fail`` says which calls fail:

    fail = CLAUSE { ";" CLAUSE }
    CLAUSE = CALL [ "*" N | "+" N ] ":" WORDS

CALL is create, status or delete. ``*N`` means the first N calls for a reservation,
``+N`` every call after the first N. WORDS are the scheduler's reason. Two of them have
a meaning of their own: ``unreachable`` (no answer) and, for status, ``gone``. Examples:

    create: no space left on any server     refused at once
    status*3: unreachable                   a controller that comes back
    status+2: gone                          lost after it was ready
    delete: device busy                     cannot be given back
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from collections.abc import Mapping, Sequence

from pegasus_bb.core.errors import ReservationFailed, SchedulerUnreachable, UsageError
from pegasus_bb.core.light_typing import NamedTuple
from pegasus_bb.core.units import parse_duration
from pegasus_bb.model.reservation import Request, Reservation, State, Status
from pegasus_bb.runtime.backends.base import Backend, Listing, PoolSpace

_COUNTS = ".pegasus_bb_faults.json"  # calls so far, in the tier's folder
_UNREACHABLE = "unreachable"
_GONE = "gone"
_CLAUSE = re.compile(r"\s*(create|status|delete)\s*(?:([*+])\s*([0-9]+))?\s*:\s*(.*\S)")


class Fault(NamedTuple):
    call: str
    after: int  # calls that succeed first
    until: float  # the last call that fails
    reason: str


def parse_faults(text: str) -> list[Fault]:
    """The clauses of ``fail``. Raises UsageError."""
    return [_parse(clause) for clause in text.split(";") if clause.strip()]


def _parse(clause: str) -> Fault:
    match = _CLAUSE.match(clause)
    if match is None:
        raise UsageError(
            f"{clause.strip()!r} names no fault; write CALL: WORDS with CALL one "
            "of create, status, delete (and *N for the first N calls only, +N for all "
            "after N), such as `status*3: unreachable`"
        )
    call, sign, count, reason = match.groups()
    after = int(count) if sign == "+" else 0
    until = float(count) if sign == "*" else float("inf")
    return Fault(call, after, until, reason)


def parse_delay(text: str) -> float:
    """Seconds; decimals, too, since tests wait for tenths. Raises UsageError."""
    try:
        return float(text)
    except ValueError:
        return float(parse_duration(text))


class InjectedFaults(Backend):
    """``inner``, a backend with a folder ``path``, and the faults of ``settings``."""

    def __init__(self, inner: Backend, settings: Mapping[str, str]) -> None:
        """Raises UsageError if a key cannot be read."""
        self.inner = inner
        self.root = settings.get("path", "")
        self.delay = parse_delay(settings.get("delay") or "0")
        self.faults = parse_faults(settings.get("fail", ""))

    def create(self, request: Request) -> Reservation:
        self._raise_fault("create", request)
        return self.inner.create(request)

    def status(self, request: Request) -> Status:
        return self.list_reservations([request]).statuses[0]

    def list_reservations(self, requests: Sequence[Request]) -> Listing:
        listing = self.inner.list_reservations(requests)
        if listing.message:
            return listing
        statuses = [
            self._with_fault(request, status)
            for request, status in zip(requests, listing.statuses)
        ]
        rows = [row._replace(status=self._delayed(row.status)) for row in listing.rows]
        return listing._replace(statuses=statuses, rows=rows)

    def path(self, request: Request, environ: Mapping[str, str]) -> str:
        path = self.inner.path(request, environ)
        if self.delay:
            status = self._delayed(self.inner.status(request))
            if status.state is not State.READY:
                raise ReservationFailed(
                    f"reservation {request.name} cannot be used: it is "
                    f"{status.state.value}; {status.message}"
                )
        return path

    def delete(self, request: Request) -> None:
        self._raise_fault("delete", request)
        self.inner.delete(request)

    def storage_id(self) -> str:
        return self.inner.storage_id()

    def why_other_storage(self, storage_id: str) -> str:
        return self.inner.why_other_storage(storage_id)

    def settle(self) -> None:
        self.inner.settle()

    def is_uninitialised(self) -> bool:
        return self.inner.is_uninitialised()

    def pools(self) -> list[PoolSpace]:
        return self.inner.pools()

    def endpoint_id(self) -> str:
        return self.inner.endpoint_id()

    def _delayed(self, status: Status) -> Status:
        if status.state is State.READY and time.time() < status.created + self.delay:
            return status._replace(state=State.PENDING)
        return status

    def _with_fault(self, request: Request, status: Status) -> Status:
        reason = self._fault("status", request)
        if not reason:
            return self._delayed(status)
        if reason == _UNREACHABLE:
            return Status(State.UNKNOWN, f"{self.root} gave no answer (as asked for)")
        if reason == _GONE:
            return Status(State.ABSENT, "no such reservation (as asked for)")
        return Status(State.FAILED, reason)

    def _raise_fault(self, call: str, request: Request) -> None:
        reason = self._fault(call, request)
        if reason == _UNREACHABLE:
            raise SchedulerUnreachable(f"{self.root} gave no answer (as asked for)")
        if reason:
            raise ReservationFailed(f"reservation {request.name}: {reason}")

    def _fault(self, call: str, request: Request) -> str:
        wanted = [fault for fault in self.faults if fault.call == call]
        if not wanted:
            return ""
        now = _count(self.root, f"{call} {request.name}")
        return next((f.reason for f in wanted if f.after < now <= f.until), "")


def _count(root: str, key: str) -> int:
    os.makedirs(root, 0o700, exist_ok=True)
    handle = os.open(os.path.join(root, _COUNTS), os.O_RDWR | os.O_CREAT, 0o666)
    with os.fdopen(handle, "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        counts: dict[str, int] = json.loads(file.read() or "{}")
        counts[key] = counts.get(key, 0) + 1
        file.seek(0)
        file.write(json.dumps(counts))
    return counts[key]
