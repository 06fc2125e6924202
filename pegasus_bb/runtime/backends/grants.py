"""The grants of the directory backend: the size of each reservation, and their order.

They are in ``<root>/.pegasus_bb.json``, locked by ``<root>/.pegasus_bb.lock``. The
folders of the reservations, with their identity files, show what exists; the grants add
the order of requests and the granted sizes. So the next call can repair grants that a
crash has damaged. A root that several users share is writable by all of them and not
sticky, because each of them replaces the grants by rename.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator

from pegasus_bb.core.errors import SchedulerUnreachable, UsageError
from pegasus_bb.core.files import await_lock, read_json, write_text
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.core.refusals import keep_mode
from pegasus_bb.model.reservation import check_reservation_name
from pegasus_bb.runtime.backends import identity

if TYPE_CHECKING:
    from typing import Any

_STATE = ".pegasus_bb.json"
_LOCK = ".pegasus_bb.lock"
PARTIAL = ".pegasus_bb-"  # prefix of folders that are being made or removed
_IDENTITY_FILES = (identity.FILE, "." + identity.FILE)  # and partly written ones
# upper bounds of bytes, and of seconds
_SIZES = 1 << 62
_TIMES = 1 << 37
_PATIENCE = 10.0  # seconds to wait for the lock, which no call holds for long


class Grants:
    """The contents of the state file, repaired from the folders."""

    def __init__(self, root: str, data: dict[str, Any]) -> None:
        self.root = root
        self.entries: dict[str, dict[str, Any]] = data.setdefault("reservations", {})
        self.data = data
        self._free: int | None = None

    def total(self, quota: int | None = None) -> int:
        """Bytes to grant in all: at most the least quota of the plans that have asked,
        ``quota`` of one that is to ask, and the size of the file system.

        The size is its free space before the first grant, or now if that is more.
        """
        used = self.used()
        held = int(self.data.get("quota", self.free() + used)) if used else 0
        total = max(held, self.free())
        quotas = (quota, *(e.get("quota") for e in self.entries.values()))
        return min(total, *(each for each in quotas if each is not None), total)

    def free(self) -> int:
        """Free bytes of the file system, read once per call."""
        if self._free is None:
            disk = os.statvfs(self.root)
            self._free = disk.f_bavail * disk.f_frsize
        return self._free

    def used(self) -> int:
        return sum(e["size"] for e in self.entries.values() if e["granted"])

    def grant(self) -> None:
        """Grant the requests that fit, first come first served, so that none starves:
        the same ones for every caller."""
        waiting = [e for e in self.entries.values() if not e["granted"]]
        if not waiting:
            return
        total = self.total()
        used = self.used()
        free = self.free()
        if not used:
            self.data["quota"] = free
        for entry in waiting:
            used += entry["size"]
            free -= entry["size"]
            if used > total or free < 0:
                return
            entry["granted"] = time.time()

    def repair(self) -> None:
        """Remove partial folders on the disk, and match the entries with the others."""
        for name in sorted(os.listdir(self.root)):
            if name.startswith(PARTIAL):
                self._sweep(os.path.join(self.root, name))
        self.match_folders()

    def match_folders(self) -> None:
        """Drop entries without a folder, and add missing ones, in memory."""
        for name in [n for n in self.entries if _mode(self.root, n) is None]:
            del self.entries[name]
        for name in sorted(os.listdir(self.root)):
            if name not in self.entries and not name.startswith("."):
                self._adopt(name)

    def save(self) -> None:
        """Write the grants now, and not only at the end of the call."""
        import json

        path = os.path.join(self.root, _STATE)
        try:
            mode = os.stat(self.root).st_mode & 0o666  # the same access as the root
            write_text(path, json.dumps(self.data, indent=1), mode)
        except OSError as error:
            raise SchedulerUnreachable(
                f"{path} cannot be written ({error.strerror})"
            ) from error

    def _sweep(self, partial: str) -> None:
        """Finish a removal after a crash; restore the folder if a job wrote into it."""
        if remove_partial(partial):
            with contextlib.suppress(OSError, KeyError, UsageError):
                name = str(identity.read(partial)["name"])
                check_reservation_name(name)
                if _mode(self.root, name) is None:
                    os.rename(partial, os.path.join(self.root, name))

    def _adopt(self, name: str) -> None:
        if not stat.S_ISDIR(_mode(self.root, name) or 0):
            return
        try:
            known = identity.read(os.path.join(self.root, name))
        except OSError:  # of another user, whose calls list it
            return
        created = known.get("created", 0.0)
        entry = {
            "uuid": str(known.get("uuid", "")),
            "owner": str(known.get("owner", "")),
            "size": known.get("size"),
            "created": created,
            "delay": 0.0,
            "granted": created,
            "quota": known.get("quota"),
        }
        if known.get("name") == name and _is_entry(entry):
            self.entries[name] = entry


@contextlib.contextmanager
def open_grants(root: str) -> Iterator[Grants]:
    """The repaired grants, locked during the call; written if it succeeds.

    Raises SchedulerUnreachable if they cannot be read or written.
    """
    from copy import deepcopy

    with _locked(root, _open_lock):
        data = _load(root)
        before = deepcopy(data)
        grants = Grants(root, data)
        try:
            grants.repair()
            grants.grant()
        except OSError as error:
            raise SchedulerUnreachable(f"{root}: {error.strerror}") from error
        yield grants
        if data != before:
            grants.save()


def view_grants(root: str) -> Grants:
    """The grants, matched with the folders. Changes nothing on the disk, and makes no
    lock. Raises SchedulerUnreachable."""
    with _locked(root, _open_lock_to_read, fcntl.LOCK_SH):
        grants = read_grants(root)
        try:
            grants.match_folders()
        except OSError as error:
            raise SchedulerUnreachable(f"{root}: {error.strerror}") from error
    return grants


def read_grants(root: str) -> Grants:
    """The grants as last written, read without the lock."""
    return Grants(root, _load(root))


def remove_partial(path: str) -> str:
    """Remove a partial folder. Returns why it stays, with its identity; else empty."""
    try:
        folder = identity.open_folder(path)
        try:
            names = os.listdir(folder)
            if not all(name.startswith(_IDENTITY_FILES) for name in names):
                return "it is written to while it is given back; end the job that does"
            known = identity.read_in(folder)
            for name in names:
                os.unlink(name, dir_fd=folder)
        finally:
            os.close(folder)
        _remove_empty(path, known)
    except FileNotFoundError:
        return f"{path} is still there" if os.path.lexists(path) else ""
    except OSError as error:
        return f"{path} cannot be removed ({error.strerror})"
    return ""


def _remove_empty(path: str, known: dict[str, Any]) -> None:
    """Remove the folder, or restore its identity: a job may write into it at the last
    moment, and without an identity no run could ever remove it."""
    try:
        os.rmdir(path)
    except FileNotFoundError:
        return
    except OSError:
        if known.get("uuid"):
            identity.restore(path, known)
        raise


def _mode(root: str, name: str) -> int | None:
    try:
        return os.lstat(os.path.join(root, name)).st_mode
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def _locked(
    root: str, open_lock: Callable[[str], int], kind: int = fcntl.LOCK_EX
) -> Iterator[None]:
    try:
        handle = open_lock(root)
    except OSError as error:
        raise SchedulerUnreachable(_why_unusable(root, error)) from error
    try:
        _wait_for(handle, root, kind)
        yield
    finally:
        os.close(handle)


def _open_lock(root: str) -> int:
    mode = os.stat(root).st_mode & 0o666
    handle = os.open(os.path.join(root, _LOCK), os.O_RDWR | os.O_CREAT, mode)
    if os.fstat(handle).st_uid == os.getuid():  # despite the umask
        keep_mode(handle, mode)
    return handle


def _open_lock_to_read(root: str) -> int:
    """The lock, or the folder itself, which no call locks, before there is one."""
    try:
        return os.open(os.path.join(root, _LOCK), os.O_RDONLY)
    except FileNotFoundError:
        return os.open(root, os.O_RDONLY | os.O_DIRECTORY)


def _why_unusable(root: str, error: OSError) -> str:
    if os.path.exists(root) and not os.path.isdir(root):
        return (
            f"{root} is no folder, so nothing is reserved in it: mend the key `path` "
            "of the tier, and plan again. To forget reservation NAME of such a run: "
            "pegasus-bb release NAME --discard --gone NAME"
        )
    return (
        f"{root}: the folder of this tier cannot be used ({error.strerror}); is it "
        "mounted, and is the key `path` of the tier right?"
    )


def _wait_for(handle: int, root: str, kind: int) -> None:
    try:
        await_lock(handle, _PATIENCE, kind=kind)
    except BlockingIOError as error:
        raise SchedulerUnreachable(
            f"{root}/{_LOCK} is held by another process for more than {_PATIENCE:g} s"
        ) from error
    except OSError as error:
        raise SchedulerUnreachable(
            f"{root}: this file system cannot lock files ({error.strerror})"
        ) from error


def _load(root: str) -> dict[str, Any]:
    path = os.path.join(root, _STATE)
    try:
        data = read_json(path)
    except FileNotFoundError:
        return {"version": 1}
    except (OSError, ValueError) as error:
        raise SchedulerUnreachable(
            f"{path} cannot be read ({error}); where it is damaged, remove it: the "
            "next call makes it anew from the reservations themselves"
        ) from error
    if _is_valid(data):
        return dict(data)
    raise SchedulerUnreachable(f"{path} does not hold the grants of a directory tier")


def _is_valid(data: Any) -> bool:
    """Whether ``data`` has our format: other users may write to this folder."""
    if not isinstance(data, dict):
        return False
    entries = data.get("reservations", {})
    return (
        isinstance(entries, dict)
        and all(map(_is_entry, entries.values()))
        and _is_number(data.get("quota", 0))
    )


def _is_entry(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and all(isinstance(entry.get(key), str) for key in ("uuid", "owner"))
        and _is_number(entry.get("size"))
        and _is_number(entry.get("created"), _TIMES)
        and (entry.get("quota") is None or _is_number(entry["quota"]))
        and "granted" in entry
        and (entry["granted"] is None or _is_number(entry["granted"], _TIMES))
    )


def _is_number(value: Any, most: int = _SIZES) -> bool:
    """Whether ``value`` is a plausible number; NaN and booleans are not."""
    return type(value) in (int, float) and 0 <= value < most
