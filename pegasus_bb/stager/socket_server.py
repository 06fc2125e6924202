"""The daemon: two sockets in front of a service, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import gc
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from pegasus_bb.core.errors import UsageError
from pegasus_bb.runtime.stager_client.protocol import LONGEST, USER_SOCKET, Refused
from pegasus_bb.stager.capabilities import check_site
from pegasus_bb.stager.connection import Connection
from pegasus_bb.stager.messages import message_of
from pegasus_bb.stager.ownership import close_files, why_not_private, why_open
from pegasus_bb.stager.requests import Requests
from pegasus_bb.stager.service import Service
from pegasus_bb.stager.site_config import Config
from pegasus_bb.stager.sockets import Sockets

if TYPE_CHECKING:
    from pegasus_bb.stager.nodes.node_attendant import NodeAttendant
    from pegasus_bb.stager.slurm.attendant import Attendant

_TURN = 0.0005  # seconds until another thread may go on
_TICK = 5.0  # seconds between two looks at idleness and old tasks
_FILES = 65_536  # open at a time
_CONNECTIONS = 64  # of one user at a time, so that none takes those of all
_ENDING = 5.0  # seconds in which an idle service of the user that ends has gone
_LOOK = 0.02  # seconds between two looks whether it has


class Server:
    """Listens, and ends when it is told to."""

    def __init__(self, config: Config, loop: asyncio.AbstractEventLoop) -> None:
        """Raises OSError, ValueError, UsageError: then nothing was begun."""
        self._config, self._loop = config, loop
        self._service = Service(config, loop)
        self._sockets = Sockets(config)
        try:
            self._slurm = self._attendant()
        except BaseException:
            self._sockets.close()
            raise
        self._connections: set[Connection] = set()
        self._busy_at = time.monotonic()
        self._ended = asyncio.Event()
        self._requests = Requests(config, self._service, self._ended.set)

    async def serve(self) -> None:
        """Until shutdown, a signal, or, for a user's service, idleness."""
        self._service.resume()
        servers = [
            await asyncio.start_unix_server(
                partial(self._accept, name), sock=listening, limit=LONGEST
            )
            for name, listening in self._sockets.by_name.items()
        ]
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
        self._sockets.remove_names()
        for server in servers:
            server.close()

    def _attendant(self) -> Attendant | NodeAttendant | None:
        """Slurm's part, where the site has one; a user's service needs none of it."""
        slurm = self._config.slurm
        node = self._config.node
        config = self._config
        rest = (config.state, config.spaces, self._service, self._loop)
        if node is not None:
            from pegasus_bb.stager.nodes.node_attendant import NodeAttendant

            return NodeAttendant(node, *rest)
        if slurm is None:
            return None
        from pegasus_bb.stager.slurm.attendant import Attendant

        return Attendant(slurm, *rest)

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
        requests = self._requests
        is_user = name == USER_SOCKET
        on_request = requests.from_user if is_user else requests.from_control
        new = Connection(reader, writer, on_request)
        has = sum(connection.uid == new.uid for connection in self._connections)
        if has >= _CONNECTIONS and new.uid not in self._config.control_users:
            why = f"you have {_CONNECTIONS} connections; close one first"
            new.refuse(None, Refused("busy", why))
            new.close()
            return
        self._connections.add(new)
        try:
            await new.serve()
        finally:
            self._connections.discard(new)


def run(config: Config) -> None:
    """Serve until it is over. Raises UsageError where another service is at work, a
    file or folder is not as the service needs it, or a site's lacks rights."""
    if config.is_site:
        check_site()
    with _explained(config):
        _take_folders(config)
    _allow_files()
    gc.freeze()  # tasks make no cycles: looking for some costs more than it frees
    gc.set_threshold(100_000, 50, 100)
    sys.setswitchinterval(_TURN)  # the store writes while requests are read
    asyncio.run(_serve(config))


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
    close_files(config.state)
    path = os.path.join(config.state, "lock")
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)  # held until the process ends
    until = time.monotonic() + (0 if config.is_site else _ENDING)
    while not _is_locked(lock):
        if time.monotonic() >= until:
            raise UsageError(
                f"{config.state}: another staging service is at work there; end it, or "
                "name another folder as state"
            )
        time.sleep(_LOOK)


def _is_locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def _explained(config: Config) -> Iterator[None]:
    """What is wrong with a file or a folder is said in a sentence."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{message_of(error)}; mend that, or name another folder: {config.named_in}"
        ) from error


def _allow_files() -> None:
    """Each client has a connection: more of them than a login shell allows."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(_FILES, most) if most != resource.RLIM_INFINITY else _FILES
    if now != resource.RLIM_INFINITY and now < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


async def _serve(config: Config) -> None:
    with _explained(config):
        server = Server(config, asyncio.get_running_loop())
    await server.serve()
