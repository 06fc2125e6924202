"""The ``directory`` backend: reserves folders of a fast file system within a quota.

Keys of the tier: ``path`` (the folder), ``quota`` (size; default: what the file system
has free), ``granularity`` (4MiB), ``timeout`` of a delete (1h) and, for tests,
``owner`` (instead of the user's name). ``pools`` are the folders below ``path``,
separated by blanks, in which the run has files. A reservation is a folder
``<path>/<name>`` of mode 0700 with an identity file, and ``<path>/<pool>/<name>`` for
each pool. All grants together stay within the least quota of the plans that hold or
wait for one, and the size of the file system, whose quota for a user may be lower. What
only reads changes nothing; ``settle`` grants and repairs.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping, Sequence

from pegasus_bb.core import removal
from pegasus_bb.core.errors import ReservationFailed, SchedulerUnreachable
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.core.units import MIB, format_size, parse_duration, parse_size, round_up
from pegasus_bb.model.reservation import (
    Request,
    Reservation,
    State,
    Status,
    check_reservation_name,
)
from pegasus_bb.runtime.backends import identity
from pegasus_bb.runtime.backends.base import (
    Backend,
    Listing,
    PoolSpace,
    ReservationRow,
    no_listing,
)
from pegasus_bb.runtime.backends.grants import (
    PARTIAL,
    Grants,
    open_grants,
    read_grants,
    remove_partial,
    view_grants,
)
from pegasus_bb.runtime.backends.pool_folders import (
    check_pool_folders,
    make_pool_folders,
    remove_pool_folders,
)

if TYPE_CHECKING:
    from typing import Any


class FolderBackend(Backend):
    def __init__(self, settings: Mapping[str, str]) -> None:
        """Raises UsageError if a key is invalid."""
        self.settings = dict(settings)
        self.root = os.path.abspath(settings.get("path", ""))
        self.granularity = parse_size(settings.get("granularity", 4 * MIB))
        self.quota = parse_size(settings["quota"]) if settings.get("quota") else None
        self.timeout = parse_duration(settings.get("timeout", "1h"))
        self.owner = settings.get("owner") or identity.user_name()

    def create(self, request: Request) -> Reservation:
        name = check_reservation_name(request.name)
        self._make_root()
        if self._is_being_deleted(request):  # finish the delete after a crash
            self.delete(request)
        with open_grants(self.root) as grants:
            entry = grants.entries.get(name)
            if entry is None:
                self._check_size(grants, request)
                make_pool_folders(self._pools(request))
                identity.mark_root(self.root)
                entry = grants.entries[name] = self._entry(request)
                grants.grant()
                grants.save()  # before the folder exists, so that it is always listed
                self._make_folder(request, entry)
            self._check_ours(entry, request)
            self._check_large_enough(entry, request)
            self._identity(request)
        return Reservation.of(request, entry["created"], owner=self.owner)

    def status(self, request: Request) -> Status:
        return self.list_reservations([request]).statuses[0]

    def settle(self) -> None:
        if identity.root_id(self.root):  # else it was never used, or is not mounted
            with contextlib.suppress(SchedulerUnreachable), open_grants(self.root):
                pass  # it repairs and grants

    def list_reservations(self, requests: Sequence[Request]) -> Listing:
        try:
            grants = view_grants(self.root)
            statuses = [self._status_of(grants, request) for request in requests]
            rows = [self._row(name, e) for name, e in grants.entries.items()]
        except SchedulerUnreachable as error:
            return no_listing(requests, str(error))
        return Listing(statuses, rows)

    def endpoint_id(self) -> str:
        settings = {**self.settings, "path": self.root, "timeout": ""}
        return repr(sorted(settings.items()))

    def storage_id(self) -> str:
        return identity.root_id(self.root)

    def why_other_storage(self, storage_id: str) -> str:
        return identity.why_other_storage(self.root, storage_id)

    def is_uninitialised(self) -> bool:
        return not os.path.lexists(self.root)

    def path(self, request: Request, environ: Mapping[str, str]) -> str:
        try:
            status = self._status_of(read_grants(self.root), request)
        except SchedulerUnreachable as error:
            raise ReservationFailed(
                f"reservation {request.name} is not there: {error}"
            ) from error
        if status.state is not State.READY:
            raise ReservationFailed(
                f"reservation {request.name} cannot be used: it is "
                f"{status.state.value} in {self.root}; {status.message}"
            )
        check_pool_folders(self._pools(request))
        return self._folder(request)

    def delete(self, request: Request) -> None:
        check_reservation_name(request.name)
        until = time.monotonic() + self.timeout
        with open_grants(self.root) as grants:
            entry = grants.entries.get(request.name)
            if entry is None:
                self._check_no_foreign_folder(request)
                remove_pool_folders(self._pools(request), until)
                return
            self._check_ours(entry, request)
            self._identity(request)
            identity.mark_root(self.root)
            identity.mark_deleting(self._folder(request))
        self._empty(request, until)
        with open_grants(self.root) as grants:
            if request.name in grants.entries:
                self._remove(request)
                del grants.entries[request.name]
                grants.grant()

    def pools(self) -> list[PoolSpace]:
        grants = view_grants(self.root)
        total = grants.total(self.quota)
        free = self._free(grants)
        return [PoolSpace("directory", self.granularity, total, free)]

    # -- status

    def _row(self, name: str, entry: dict[str, Any]) -> ReservationRow:
        message = f"in {os.path.join(self.root, name)}"
        status = _status(self._state_of(entry), message, entry)
        return ReservationRow(name, entry["owner"] == self.owner, status)

    def _status_of(self, grants: Grants, request: Request) -> Status:
        entry = grants.entries.get(request.name)
        if entry is None:
            return self._absent_status(request)
        state, message = self._state_and_message(grants, entry, request)
        return _status(state, message, entry)

    def _state_and_message(
        self, grants: Grants, entry: dict[str, Any], request: Request
    ) -> tuple[State, str]:
        try:
            self._check_ours(entry, request)
            self._check_large_enough(entry, request)
            if self._identity(request).get("deleting"):
                return State.DELETING, "being given back"
        except ReservationFailed as error:
            if not os.path.lexists(self._folder(request)):
                return State.ABSENT, str(error)
            return State.FAILED, str(error)
        if not entry["granted"]:
            free = self._free(grants)
            few = entry["size"] - free
            missing = f", {format_size(few)} too few" if few > 0 else ""
            return State.PENDING, (
                f"waits for {format_size(entry['size'])}; {format_size(free)} "
                f"free{missing}, first come first served; `pegasus-bb ls` shows who "
                "has the rest"
            )
        return self._state_of(entry), f"in {self._folder(request)}"

    def _free(self, grants: Grants) -> int:
        granted = grants.total(self.quota) - grants.used()
        return max(0, min(granted, grants.free()))

    def _state_of(self, entry: dict[str, Any]) -> State:
        return State.READY if entry["granted"] else State.PENDING

    def _absent_status(self, request: Request) -> Status:
        try:
            self._check_no_foreign_folder(request)
        except ReservationFailed as error:
            return Status(State.FAILED, str(error))
        return Status(State.ABSENT, f"no such reservation in {self.root}")

    # -- refusals

    def _check_ours(self, entry: dict[str, Any], request: Request) -> None:
        what = self._description(entry, request)
        if entry["owner"] != self.owner:
            raise ReservationFailed(
                f"{what} belongs to {entry['owner']}, not to {self.owner}; "
                "plan again: a new run gets a new name"
            )
        if entry["uuid"] != request.uuid:
            raise ReservationFailed(
                f"{what} is left over from run {entry['uuid']} of the same user "
                f"{self.owner}, not from this run {request.uuid}; give it back with "
                f"`pegasus-bb release {request.name}`, or plan again"
            )

    def _check_large_enough(self, entry: dict[str, Any], request: Request) -> None:
        if entry["size"] < request.capacity:
            raise ReservationFailed(
                f"{self._description(entry, request)} is smaller than the "
                f"{format_size(request.capacity)} that this run asks for"
            )

    def _description(self, entry: dict[str, Any], request: Request) -> str:
        made = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry["created"]))
        size = format_size(entry["size"])
        return f"reservation {request.name} in {self.root} ({size}, made {made})"

    def _check_size(self, grants: Grants, request: Request) -> None:
        total = grants.total(self.quota)
        size = self._size(request)
        if request.capacity <= 0 or size > total:
            raise ReservationFailed(
                f"reservation {request.name} asks for {format_size(request.capacity)}; "
                f"{self.root} has {format_size(total)} in all. Plan again with a "
                "lower capacity (--bb-capacity), or with a larger quota of the tier"
            )

    def _check_no_foreign_folder(self, request: Request) -> None:
        if os.path.lexists(self._folder(request)):
            raise ReservationFailed(
                f"{self._folder(request)} is there, but it is not a reservation "
                "(no folder with an identity file); it was left alone: move it away"
            )

    # -- the folder itself

    def _folder(self, request: Request) -> str:
        return os.path.join(self.root, request.name)

    def _pools(self, request: Request) -> list[str]:
        pools = self.settings.get("pools", "").split()
        return [os.path.join(self.root, pool, request.name) for pool in pools]

    def _identity(self, request: Request) -> dict[str, Any]:
        """The contents of the identity file. Raises ReservationFailed if not ours."""
        known = identity.check(self._folder(request), request)
        uid = os.lstat(self._folder(request)).st_uid
        if uid != os.getuid():
            raise ReservationFailed(
                f"{self._folder(request)} belongs to uid {uid}, not to {os.getuid()}"
            )
        return known

    def _size(self, request: Request) -> int:
        return round_up(request.capacity, self.granularity)

    def _make_root(self) -> None:
        try:
            os.mkdir(self.root, 0o700)
        except FileExistsError:
            return
        except OSError as error:
            raise ReservationFailed(
                f"{self.root}: cannot be made ({error.strerror}); "
                "is the key `path` of the tier right?"
            ) from error

    def _entry(self, request: Request) -> dict[str, Any]:
        self._check_no_foreign_folder(request)
        return {
            "uuid": request.uuid,
            "owner": self.owner,
            "size": self._size(request),
            "created": time.time(),
            "delay": 0.0,  # earlier versions, which may share the tier, read it
            "granted": None,
            "quota": self.quota,
        }

    def _make_folder(self, request: Request, entry: dict[str, Any]) -> None:
        """Make the folder with its identity by one rename: a crash leaves all or
        nothing."""
        partial = self._new_partial()
        known = {key: entry[key] for key in entry if key not in ("delay", "granted")}
        try:
            os.mkdir(partial, 0o700)
            identity.note(partial, {"name": request.name, **known})
            os.rename(partial, self._folder(request))
        except OSError as error:
            remove_partial(partial)
            raise ReservationFailed(
                f"{self._folder(request)}: cannot be made ({error.strerror})"
            ) from error

    def _new_partial(self) -> str:
        return os.path.join(self.root, PARTIAL + os.urandom(16).hex())

    def _is_being_deleted(self, request: Request) -> bool:
        try:
            return bool(self._identity(request).get("deleting"))
        except ReservationFailed:
            return False

    def _empty(self, request: Request, until: float) -> None:
        path = self._folder(request)
        remove_pool_folders(self._pools(request), until)
        try:
            folder = identity.open_folder(path)
            try:
                if identity.read_in(folder).get("uuid") == request.uuid:
                    removal.empty(folder, identity.DELETING, until)
            finally:
                os.close(folder)
        except FileNotFoundError:  # another delete was faster
            return
        except (OSError, TimeoutError) as error:
            raise ReservationFailed(
                f"reservation {request.name} could not be emptied: {error} in {path}; "
                "it is marked as being given back, the next delete goes on"
            ) from error

    def _remove(self, request: Request) -> None:
        """Remove the folder: rename it first, so that it disappears in one step."""
        self._identity(request)
        partial = self._new_partial()
        os.rename(self._folder(request), partial)
        why = remove_partial(partial)
        if why:
            os.rename(partial, self._folder(request))
            raise ReservationFailed(
                f"reservation {request.name} was not given back: {why}; then delete "
                "again"
            )


def _status(state: State, message: str, entry: dict[str, Any]) -> Status:
    known = (entry[key] for key in ("owner", "size", "created", "uuid"))
    return Status(state, message, *known)
