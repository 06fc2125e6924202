"""The daemon: two sockets in front of a service, and its end.

The sockets are made here, or opened by systemd, which starts the service on demand.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import os
import resource
import signal
import socket
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import unlink_if_there
from pegasus_bb.runtime.stager_client.protocol import (
    CONTROL_SOCKET,
    LONGEST,
    USER_SOCKET,
    Refused,
    check_socket,
)
from pegasus_bb.stager.capabilities import check_site
from pegasus_bb.stager.connection import Connection
from pegasus_bb.stager.messages import as_usage_errors
from pegasus_bb.stager.ownership import locked, why_not_private, why_open
from pegasus_bb.stager.requests import Requests
from pegasus_bb.stager.service import Service
from pegasus_bb.stager.site_config import Config

if TYPE_CHECKING:
    from pegasus_bb.stager.nodes.node_attendant import NodeAttendant
    from pegasus_bb.stager.slurm.attendant import Attendant

_TURN = 0.0005  # seconds until another thread may go on
_TICK = 5.0  # seconds between two looks at idleness and old tasks
_CONNECTIONS = 64  # of one user at a time, so that none takes those of all
_ENDING = 5.0  # seconds in which an idle service of the user that ends has gone
_LAST_ANSWERS = 1.0  # seconds for clients that read slowly
_NAMES = (CONTROL_SOCKET, USER_SOCKET)  # in this order: who can ask finds both
_BACKLOG = 128
_FIRST = 3  # SD_LISTEN_FDS_START of sd_listen_fds(3)


def _inherited() -> dict[str, socket.socket]:
    """Return what systemd has opened for this process: by the names of their files."""
    count = os.environ.pop("LISTEN_FDS", "")
    pid = os.environ.pop("LISTEN_PID", "")
    if pid != str(os.getpid()) or not count.isdigit():
        return {}
    found: dict[str, socket.socket] = {}
    for number in range(_FIRST, _FIRST + int(count)):
        os.set_inheritable(number, False)
        listening = socket.socket(fileno=number)
        listening.setblocking(False)
        found[os.path.basename(str(listening.getsockname()))] = listening
    if found and sorted(found) != sorted(_NAMES):
        raise UsageError(
            f"systemd gives the sockets {', '.join(sorted(found))}; the service needs "
            f"{' and '.join(_NAMES)}: one ListenStream= for each, with these file names"
        )
    return found


def _check_free(path: str) -> None:
    """Raises UsageError where no socket can have that path, and where a service with
    another folder of state listens: no one would reach it any more."""
    check_socket(path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.setblocking(False)
        if client.connect_ex(path) in (0, errno.EAGAIN):  # EAGAIN: its queue is full
            raise UsageError(
                f"{path}: another staging service listens there; end it, or name "
                "another folder for the sockets"
            )


def _made(config: Config, name: str, path: str) -> socket.socket:
    """No user can connect before the mode and the owner are what they shall be."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    unlink_if_there(path)
    is_public = name == USER_SOCKET and config.is_site
    before = os.umask(0o777)
    try:
        listening.bind(path)
    finally:
        os.umask(before)
    if name == CONTROL_SOCKET and config.is_site:
        os.chown(path, config.control_users[-1], -1)
    os.chmod(path, 0o666 if is_public else 0o600)
    listening.listen(_BACKLOG)
    listening.setblocking(False)
    return listening


class Server:
    """Listens until a shutdown, a signal, or idleness ends it."""

    def __init__(self, config: Config, loop: asyncio.AbstractEventLoop) -> None:
        """Raises OSError, ValueError, UsageError: then no client was heard."""
        self._config, self._loop = config, loop
        self._service = Service(config, loop)
        self._slurm = self._attendant()
        self._sockets = _inherited()
        self._own: list[str] = []  # their files; what systemd has opened stays
        for name in () if self._sockets else _NAMES:
            path = os.path.join(config.sockets, name)
            _check_free(path)
            self._own.append(path)
            self._sockets[name] = _made(config, name, path)
        self._connections: set[Connection] = set()
        self._busy_at = time.monotonic()
        self._ended = asyncio.Event()
        self._requests = Requests(config, self._service, self._ended.set)

    async def serve(self) -> None:
        """Serve until shutdown, a signal, or, for a user's service, idleness."""
        self._service.dispatch.hand_out()  # what an earlier service has left
        servers = [
            # Not start_unix_server: from Python 3.13 on it removes the socket's file,
            # which systemd has made.
            await asyncio.start_server(
                partial(self._accept, name), sock=listening, limit=LONGEST
            )
            for name, listening in self._sockets.items()
        ]
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self._ended.set)
        tick = min(_TICK, self._config.idle)
        while not self._is_over():
            try:
                await asyncio.wait_for(self._ended.wait(), tick)
            except asyncio.TimeoutError:
                self._service.tidy()
        if self._service.is_idle:  # each answer that a client waits for is there
            await self._let_answers_go()
        for connection in list(self._connections):
            connection.close()
        if self._slurm is not None:
            self._slurm.close()
        self._service.close()
        for path in self._own:  # before they are closed: another service may take them
            with contextlib.suppress(OSError):
                os.unlink(path)
        for server in servers:
            server.close()

    def _attendant(self) -> Attendant | NodeAttendant | None:
        """Slurm's part, where the site has one; a user's service needs none of it."""
        config = self._config
        if config.node is not None:
            from pegasus_bb.stager.nodes.node_attendant import NodeAttendant

            return NodeAttendant(config.node, self._service, self._loop)
        if config.slurm is None:
            return None
        from pegasus_bb.stager.slurm.attendant import Attendant

        return Attendant(config.slurm, self._service, self._loop)

    async def _let_answers_go(self) -> None:
        answers = (connection.has_answered() for connection in self._connections)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.gather(*answers), _LAST_ANSWERS)

    def _is_over(self) -> bool:
        if self._ended.is_set():
            return True
        if self._connections or not self._service.is_idle:
            self._busy_at = time.monotonic()
        idle = time.monotonic() - self._busy_at
        return not self._config.is_site and idle > self._config.idle

    async def _accept(
        self, name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        handle = partial(self._requests.handle, is_control=name == CONTROL_SOCKET)
        new = Connection(reader, writer, handle)
        has = sum(connection.uid == new.uid for connection in self._connections)
        if has >= _CONNECTIONS and new.uid not in self._config.control_users:
            why = f"you have {_CONNECTIONS} connections; close one first"
            new.refuse(None, Refused("busy", why))
            new.close()
            return
        self._connections.add(new)
        try:
            with contextlib.suppress(asyncio.CancelledError):  # the service ends
                await new.serve()
        finally:
            self._connections.discard(new)


def run(config: Config) -> None:
    """Serve until it is over. Raises UsageError where another service is at work, a
    file or folder is not as the service needs it, or a site's lacks rights."""
    if config.is_site:
        check_site()
    mend = f"; mend that, or name another folder: {config.named_in}"
    with as_usage_errors(mend):
        _take_folders(config)
    _allow_files()
    gc.freeze()  # tasks make no cycles: looking for some costs more than it frees
    gc.set_threshold(100_000, 50, 100)
    sys.setswitchinterval(_TURN)  # the store writes while requests are read
    asyncio.run(_serve(config, mend))


def _take_folders(config: Config) -> None:
    sockets_mode = 0o755 if config.is_site else 0o700
    for folder, mode in ((config.state, 0o711), (config.sockets, sockets_mode)):
        os.makedirs(folder, mode=mode, exist_ok=True)
        why = why_open(folder, os.getuid())  # another user made it, in /tmp say
        if why:
            raise UsageError(why)
    why = why_not_private(config.state, os.getuid())
    if why:
        raise UsageError(why)
    locked(config.state, "state", 0.0 if config.is_site else _ENDING)  # until the end


def _allow_files() -> None:
    """Each client has a connection: more of them than a login shell allows."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


async def _serve(config: Config, mend: str) -> None:
    with as_usage_errors(mend):
        server = Server(config, asyncio.get_running_loop())
    await server.serve()
