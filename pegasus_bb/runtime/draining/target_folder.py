"""The folder of a target: who drains to it, and whose segment goes next.

``slots`` is locked with flock and has the last slot that was given. Every lease has a
file of its own, so that users who share a folder (mode 1777) need not write each
other's: ``slots`` alone can be written by all. A lease that is not renewed for
``EXPIRES`` seconds counts no more.
"""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import stat
import time
from collections.abc import Callable, Iterator

from pegasus_bb.core.files import await_lock, unlink_if_there
from pegasus_bb.core.light_typing import TYPE_CHECKING, NamedTuple
from pegasus_bb.core.refusals import keep_mode

if TYPE_CHECKING:
    from typing import Any

EXPIRES = 20.0  # seconds
BURST = 0.05  # seconds that a slot may begin in the past: who waited woke up late
_PATIENCE = 5.0  # seconds for the lock: what is done under it takes milliseconds
_LONGEST = 3600.0  # seconds of a slot
_SHORTEST = 0.01  # seconds between two questions
_SKEW = 2.0  # seconds by which clocks of nodes may differ
_MOST = 1 << 62  # bytes of a lease
_FORGOTTEN = 600.0  # seconds without renewal, after which a lease's file goes
_SUFFIX = ".lease"


class Lease(NamedTuple):
    """What one process wants of a target. Times are those of time.time()."""

    run: str  # uuid
    left: int  # bytes that are still to be drained
    deadline: float  # infinite: there is none
    heartbeat: float = 0.0
    since: float | None = None  # when it began to wait for a slot; None: it does not

    @property
    def load(self) -> float:
        """Bytes per second, S/T of the paper; 0 where it has no time, or all of it."""
        seconds = self.deadline - self.heartbeat
        return self.left / seconds if seconds > 0 else 0.0


class Registry:
    """One process's end of a target. Every method raises OSError or ValueError where
    the folder cannot be used."""

    def __init__(
        self,
        folder: str,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._folder = folder
        self._clock = clock
        self._sleep = sleep
        name = f"{os.uname().nodename}.{os.getpid()}.{os.urandom(4).hex()}"
        self._name = name + _SUFFIX
        self.load = 0.0  # of all live leases, when it was last asked

    def ask(self, lease: Lease, seconds: float) -> float:
        """Ask for the next slot, ``seconds`` long: 0 if it is given, else seconds after
        which to ask again."""
        with self._locked() as slots:
            now = self._clock()
            self._renew(lease._replace(heartbeat=now))
            live = self._live(now)
            self.load = sum(each.load for each in live.values())
            free = _used_until(slots, now)
            if now < free:
                return max(free - now, _SHORTEST)
            if now < free + EXPIRES and self._name != _first(live):
                return _SHORTEST  # after that, the first in line is hung
            begin = max(now - BURST, free)
            _write(slots, [begin, begin + seconds])
            self._renew(lease._replace(heartbeat=now, since=None))
            return 0.0

    def renew(self, lease: Lease) -> None:
        """Say that the process is alive and waits for nothing here."""
        self._renew(lease._replace(heartbeat=self._clock(), since=None))

    def leave(self) -> None:
        """The process drains no more: its share is free at once."""
        unlink_if_there(self._path(self._name))

    def _renew(self, lease: Lease) -> None:
        part = self._path(f"{self._name}.part")
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _SAFE, 0o644)
        with os.fdopen(handle, "w") as out:
            keep_mode(handle, 0o644)  # whatever the umask: other users read it
            json.dump(lease, out)
        os.rename(part, self._path(self._name))

    def _live(self, now: float) -> dict[str, Lease]:
        """Leases that count, by name. A damaged one does not."""
        found: dict[str, Lease] = {}
        for name in os.listdir(self._folder):
            if name.endswith(_SUFFIX):
                lease = _read(self._path(name))
                age = _FORGOTTEN if lease is None else now - lease.heartbeat
                if lease is not None and abs(age) < EXPIRES:
                    found[name] = lease
                elif age > _FORGOTTEN:
                    with contextlib.suppress(OSError):  # another user's, perhaps
                        os.unlink(self._path(name))
        return found

    @contextlib.contextmanager
    def _locked(self) -> Iterator[int]:
        handle = _opened(self._path("slots"))
        try:
            await_lock(handle, _PATIENCE, _SHORTEST, self._sleep)
            yield handle
        finally:
            os.close(handle)

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)


_SAFE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # others may put what they like


def _opened(path: str) -> int:
    """Open ``path``, or make it for all who may write to its folder. Linux refuses
    O_CREAT for another user's file in a sticky folder (fs.protected_regular)."""
    try:
        return _regular(os.open(path, os.O_RDWR | _SAFE), path)
    except FileNotFoundError:
        pass
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _SAFE, 0o600)
    except FileExistsError:
        return _regular(os.open(path, os.O_RDWR | _SAFE), path)
    folder = os.stat(os.path.dirname(path)).st_mode
    keep_mode(handle, 0o600 | (folder & 0o022) * 3 & 0o066)
    return handle


def _regular(handle: int, path: str) -> int:
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise OSError(errno.EINVAL, "is no regular file", path)


def _first(live: dict[str, Lease]) -> str:
    """Who is next: the earliest deadline, then who waits longest."""
    waiting: list[tuple[float, float, str]] = [
        (lease.deadline, lease.since, name)
        for name, lease in live.items()
        if lease.since is not None
    ]
    return min(waiting)[2] if waiting else ""


def _used_until(slots: int, now: float) -> float:
    """The end of the last slot; none where it cannot be: it is damaged, or a clock has
    jumped, for no slot begins in the future."""
    try:
        begin, end = map(float, json.loads(os.pread(slots, 200, 0).decode()))
    except (ValueError, TypeError, RecursionError):
        return 0.0
    is_possible = begin <= now + _SKEW and 0 <= end - begin <= _LONGEST
    return end if is_possible else 0.0


def _write(slots: int, slot: list[float]) -> None:
    data = json.dumps(slot).encode()
    os.pwrite(slots, data.ljust(64), 0)


def _read(path: str) -> Lease | None:
    try:
        handle = _regular(os.open(path, os.O_RDONLY | _SAFE), path)
        with os.fdopen(handle, "rb") as file:
            data: Any = json.loads(file.read(4096).decode())
        run, left, deadline, heartbeat, since = data
        number = None if since is None else float(since)
        found = Lease(str(run), int(left), float(deadline), float(heartbeat), number)
    except (OSError, ValueError, TypeError, OverflowError, RecursionError):
        return None
    return found if _is_possible(found) else None


def _is_possible(lease: Lease) -> bool:
    """Whether an honest process may have written it."""
    times = [lease.heartbeat, lease.heartbeat if lease.since is None else lease.since]
    return (
        0 <= lease.left < _MOST
        and all(map(math.isfinite, times))
        and lease.deadline > 0  # no NaN; infinite: there is none
        and math.isfinite(lease.load)
    )
