"""The daemon: two sockets in front of a service, and its end."""

from __future__ import annotations

import asyncio
import fcntl
import gc
import os
import signal
import socket
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, Set

from pegasus_bb.errors import UsageError
from pegasus_bb.service.config import Config, as_roots
from pegasus_bb.service.connection import Connection
from pegasus_bb.service.protocol import USER_SOCKET, VERSION, Refused, check_version
from pegasus_bb.service.service import Service
from pegasus_bb.service.sockets import Sockets

if TYPE_CHECKING:
    from pegasus_bb.service.slurm.attendant import Attendant

_TICK = 5.0  # seconds between two looks at idleness and old tasks
_CONNECTIONS = 64  # of one user at a time, so that none takes those of all
Requests = Dict[str, Callable[..., Optional[Dict[str, Any]]]]


class Server:
    """Answers requests; see docs/stager.md for each."""

    def __init__(self, config: Config, loop: asyncio.AbstractEventLoop) -> None:
        """Raises OSError."""
        self._config, self._loop = config, loop
        self._service = Service(config, loop)
        self._slurm = self._attendant()
        self._connections: Set[Connection] = set()
        self._busy_at = time.monotonic()
        self._ended = asyncio.Event()
        self._begun = time.time()
        self._user: Requests = {
            "ping": self._ping,
            "submit": self._submit,
            "status": self._status,
            "wait": self._wait,
            "cancel": self._cancel,
        }
        self._control: Requests = {
            "pause": self._pause,
            "resume": self._resume,
            "drain": self._drain,
            "shutdown": self._shutdown,
            "users": self._users,
        }

    async def serve(self) -> None:
        """Until shutdown, a signal, or, for a user's service, idleness."""
        sockets = Sockets(self._config)
        for name, listening in sockets.by_name.items():
            self._loop.add_reader(listening, self._accept, listening, name)
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self._ended.set)
        tick = min(_TICK, self._config.idle)
        while not self._is_over():
            try:
                await asyncio.wait_for(self._ended.wait(), tick)
            except asyncio.TimeoutError:
                self._service.tidy()
        for connection in list(self._connections):
            connection.close()
        if self._slurm is not None:
            self._slurm.close()
        self._service.close()
        for listening in sockets.by_name.values():
            self._loop.remove_reader(listening)
        sockets.close()

    def _attendant(self) -> Optional[Attendant]:
        """Slurm's part, where the site has one; a user's service needs none of it."""
        slurm, config = self._config.slurm, self._config
        if slurm is None:
            return None
        from pegasus_bb.service.slurm.attendant import Attendant

        return Attendant(slurm, config.state, config.spaces, self._service, self._loop)

    def _is_over(self) -> bool:
        if self._ended.is_set():
            return True
        if self._connections or not self._service.is_idle:
            self._busy_at = time.monotonic()
        idle = time.monotonic() - self._busy_at
        return not self._config.is_site and idle > self._config.idle

    def _accept(self, listening: socket.socket, name: str) -> None:
        try:
            sock, _ = listening.accept()
        except OSError:  # the client has gone, or there are too many
            return
        asked = self._asked_by_user if name == USER_SOCKET else self._asked_by_control
        new = Connection(sock, self._loop, asked, self._connections.discard)
        self._connections.add(new)
        is_privileged = new.uid in self._config.control_users
        has = sum(1 for connection in self._connections if connection.uid == new.uid)
        if has > _CONNECTIONS and not is_privileged:
            why = f"you have {_CONNECTIONS} connections; close one first"
            new.refuse(None, Refused("busy", why))
            new.close()

    def _asked_by_user(
        self, connection: Connection, message: Dict[str, Any], raw: bytes
    ) -> None:
        check_version(message)
        if not self._config.is_site and connection.uid != os.getuid():
            raise Refused("not-yours", "this is the service of another user")
        self._call(self._user, connection, message, raw)

    def _asked_by_control(
        self, connection: Connection, message: Dict[str, Any], raw: bytes
    ) -> None:
        check_version(message)
        if connection.uid not in self._config.control_users:
            raise Refused("not-yours", "control is for root and the Slurm user")
        self._call({**self._user, **self._control}, connection, message, raw)

    def _call(
        self,
        known: Requests,
        connection: Connection,
        message: Dict[str, Any],
        raw: bytes,
    ) -> None:
        do = message.get("do")
        if not isinstance(do, str) or do not in known:
            raise Refused("bad-request", f"do {do!r} is none of {', '.join(known)}")
        answer = known[do](connection, message, raw)
        if answer is not None:
            connection.answer(message.get("id"), answer)

    # -- requests: (connection, message, raw line) -> answer, or None: it comes later

    def _ping(self, *_: Any) -> Dict[str, Any]:
        about = {"version": VERSION, "pid": os.getpid(), "since": self._begun}
        return {**about, "roots": as_roots(self._config.spaces)}

    def _submit(
        self, connection: Connection, message: Dict[str, Any], raw: bytes
    ) -> None:
        number = message.get("id")
        descriptors = connection.take_descriptors(message.get("descriptors", 0))
        self._service.submit(
            connection.uid,
            message.get("tasks"),
            raw,
            lambda ok: connection.answer(number, ok),
            lambda refused: connection.refuse(number, refused),
            descriptors,
        )

    def _status(
        self, connection: Connection, message: Dict[str, Any], _: bytes
    ) -> Dict[str, Any]:
        shown = []
        left = self._service.seconds_left() if message.get("eta") else None
        for task in self._named(connection, message):
            entry = task.as_json()
            if left is not None:
                entry["seconds_left"] = round(left.get(task.id, 0.0), 3)
            shown.append(entry)
        return {"tasks": shown}

    def _wait(self, connection: Connection, message: Dict[str, Any], _: bytes) -> None:
        number = message.get("id")
        self._service.wait(
            self._named(connection, message),
            lambda ok: connection.answer(number, ok),
        )

    def _cancel(
        self, connection: Connection, message: Dict[str, Any], _: bytes
    ) -> Dict[str, Any]:
        return {"cancelled": self._service.cancel(self._named(connection, message))}

    def _pause(self, *_: Any) -> Dict[str, Any]:
        self._service.dispatch.pause(True)
        return {}

    def _resume(self, *_: Any) -> Dict[str, Any]:
        self._service.dispatch.pause(False)
        return {}

    def _drain(self, *_: Any) -> Dict[str, Any]:
        self._service.drain(self._ended.set)
        return {}

    def _shutdown(self, *_: Any) -> Dict[str, Any]:
        self._loop.call_soon(self._ended.set)
        return {}

    def _users(self, *_: Any) -> Dict[str, Any]:
        counts: Dict[str, Dict[str, int]] = {}
        for task in self._service.tasks.values():
            states = counts.setdefault(str(task.uid), {})
            states[task.state] = states.get(task.state, 0) + 1
            states["bytes"] = states.get("bytes", 0) + task.moved
        return {"users": counts, "paused": self._service.dispatch.is_paused}

    def _named(self, connection: Connection, message: Dict[str, Any]) -> Any:
        everyone = bool(message.get("everyone"))
        if everyone and connection.uid not in self._config.control_users:
            raise Refused("not-yours", "only root and the Slurm user see all tasks")
        return self._service.visible(connection.uid, message.get("tasks"), everyone)


def run(config: Config) -> None:
    """Serve until it is over. Raises UsageError where another service is at work or the
    folders cannot be used."""
    folders = (
        (config.state, 0o711),
        (config.sockets, 0o755 if config.is_site else 0o700),
    )
    try:
        for folder, mode in folders:
            os.makedirs(folder, mode=mode, exist_ok=True)
            _check_owner(folder)
        lock = os.open(
            os.path.join(config.state, "lock"), os.O_RDWR | os.O_CREAT, 0o600
        )
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError(
            f"{config.state}: another staging service is at work"
        ) from None
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}") from error
    gc.freeze()  # tasks make no cycles: looking for some costs more than it frees
    gc.set_threshold(100_000, 50, 100)
    asyncio.run(_serve(config))


async def _serve(config: Config) -> None:
    await Server(config, asyncio.get_running_loop()).serve()


def _check_owner(folder: str) -> None:
    """Raises UsageError for a folder that another user has made, in /tmp say."""
    found = os.lstat(folder)
    if found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise UsageError(
            f"{folder}: belongs to another user, or others may write to it"
        )
