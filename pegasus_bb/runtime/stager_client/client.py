"""What a program says to the service; the service of this user starts on demand."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from pegasus_bb.core.errors import SCHEDULER_UNREACHABLE, PegasusBBError, UsageError
from pegasus_bb.core.process import start
from pegasus_bb.runtime.stager_client.memory import memory_of, send_descriptors
from pegasus_bb.runtime.stager_client.protocol import (
    CONTROL_SOCKET,
    LONGEST,
    LONGEST_ANSWER,
    USER_SOCKET,
    VERSION,
    Lines,
    Refused,
    check_socket,
    decode,
    encode,
)
from pegasus_bb.runtime.stager_client.task import COPY

_GONE = "the staging service has gone; what it accepted goes on when it runs again"
_STARTING = 10.0  # seconds that a service may take to begin
_SENTENCE = 4096  # bytes of why it does not


class NoService(PegasusBBError):
    """No service answers on the socket."""

    exit_code = SCHEDULER_UNREACHABLE


class Client:
    """A connection. Every method raises Refused where the service says no, and
    NoService where it does not answer."""

    def __init__(self, path: str) -> None:
        """``path``: of a socket, or of the folder that has it. Raises NoService,
        UsageError."""
        path = _socket_of(path)
        self._sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._lines, self._number = Lines(LONGEST_ANSWER), 0
        self._ready: list[bytes] = []
        try:
            self._sock.connect(path)
        except OSError as error:
            self._sock.close()
            raise _no_service(path, error) from error

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def submit(
        self, tasks: Sequence[dict[str, Any]], descriptors: Sequence[int] = ()
    ) -> range:
        """The numbers of ``tasks``, which are durable when this returns. A task with
        the source ``fd://0`` reads the first of ``descriptors``; it ends with the
        service, since its memory does."""
        ok = self._request("submit", {"tasks": list(tasks)}, descriptors)
        return range(ok["first"], ok["first"] + ok["count"])

    def submit_memory(self, data: bytes, dest: str, **more: Any) -> int:
        """The number of a task that writes ``data`` to the place ``dest``."""
        handle = memory_of(data)
        try:
            task = {"kind": COPY, "source": "fd://0", "dest": dest, "size": len(data)}
            return self.submit([{**task, **more}], [handle])[0]
        finally:
            os.close(handle)

    def wait(self, tasks: Sequence[int]) -> list[dict[str, Any]]:
        """``tasks`` as they have ended; returns when all have."""
        found: list[dict[str, Any]] = self.ask("wait", tasks=list(tasks))["tasks"]
        return found

    def status(
        self, tasks: Sequence[int] | None = None, **more: Any
    ) -> list[dict[str, Any]]:
        """``tasks`` as they are now; None: all of this user."""
        ids = None if tasks is None else list(tasks)
        found: list[dict[str, Any]] = self.ask("status", tasks=ids, **more)["tasks"]
        return found

    def cancel(self, tasks: Sequence[int]) -> int:
        """Stop ``tasks``; how many of them ended as cancelled. One that was complete
        already is done."""
        return int(self.ask("cancel", tasks=list(tasks))["cancelled"])

    def ask(self, do: str, **more: Any) -> dict[str, Any]:
        """The ``ok`` of one request."""
        return self._request(do, more, ())

    def _request(
        self, do: str, more: dict[str, Any], descriptors: Sequence[int]
    ) -> dict[str, Any]:
        self._number += 1
        if descriptors:
            more = {**more, "descriptors": len(descriptors)}
        request = request_line(do, self._number, more)
        try:
            sent = send_descriptors(self._sock, request, descriptors)
            if sent < len(request):
                self._sock.sendall(request[sent:])
            return result(self._answer())
        except OSError as error:
            raise NoService(f"the staging service has gone: {error}") from error

    def close(self) -> None:
        """End the connection; tasks go on."""
        self._sock.close()

    def _answer(self) -> dict[str, Any]:
        while not self._ready:
            data = self._sock.recv(1 << 18)
            if not data:
                raise NoService(_GONE)
            self._ready += self._lines.feed(data)
        return decode(self._ready.pop(0))


class AsyncClient:
    """The same for asyncio; several requests may be under way."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._writer, self._number = writer, 0
        self._pending: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._has_gone = False  # the service, or this connection
        self._listening = asyncio.ensure_future(self._listen(reader))

    @classmethod
    async def connect(cls, path: str) -> AsyncClient:
        """Raises NoService, UsageError."""
        path = _socket_of(path)
        try:
            return cls(*await asyncio.open_unix_connection(path, limit=LONGEST_ANSWER))
        except OSError as error:
            raise _no_service(path, error) from error

    async def submit(self, tasks: Sequence[dict[str, Any]]) -> range:
        """See Client.submit."""
        ok = await self.ask("submit", tasks=list(tasks))
        return range(ok["first"], ok["first"] + ok["count"])

    async def wait(self, tasks: Sequence[int]) -> list[dict[str, Any]]:
        """See Client.wait."""
        answer = await self.ask("wait", tasks=list(tasks))
        found: list[dict[str, Any]] = answer["tasks"]
        return found

    async def status(
        self, tasks: Sequence[int] | None = None, **more: Any
    ) -> list[dict[str, Any]]:
        """See Client.status."""
        ids = None if tasks is None else list(tasks)
        answer = await self.ask("status", tasks=ids, **more)
        found: list[dict[str, Any]] = answer["tasks"]
        return found

    async def cancel(self, tasks: Sequence[int]) -> int:
        """See Client.cancel."""
        return int((await self.ask("cancel", tasks=list(tasks)))["cancelled"])

    async def ask(self, do: str, **more: Any) -> dict[str, Any]:
        """See Client.ask."""
        if self._has_gone:
            raise NoService(_GONE)
        self._number += 1
        number = self._number
        line = request_line(do, number, more)
        answer = asyncio.get_running_loop().create_future()
        self._pending[number] = answer
        try:
            self._writer.write(line)
            await self._writer.drain()
            return result(await answer)
        except OSError as error:
            raise NoService(_GONE) from error
        finally:
            if answer.done() and not answer.cancelled():
                answer.exception()  # asyncio reports one that is not looked at
            del self._pending[number]

    async def close(self) -> None:
        """End the connection; tasks go on. What waits for an answer gets NoService."""
        self._listening.cancel()
        self._fail()
        self._writer.close()

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        try:
            async for line in reader:
                message = decode(line)
                waiting = self._pending.get(message.get("id", 0))
                if waiting is not None and not waiting.done():
                    waiting.set_result(message)
        except (OSError, ValueError, Refused):
            pass  # it was killed, or says what no service says
        finally:
            self._fail()

    def _fail(self) -> None:
        """No answer comes any more: neither to requests that wait nor to later ones."""
        self._has_gone = True
        for waiting in self._pending.values():
            if not waiting.done():
                waiting.set_exception(NoService(_GONE))


def _socket_of(path: str) -> str:
    """``path``, or the socket for users in it, if it is a folder. Raises UsageError."""
    path = os.path.join(path, USER_SOCKET) if os.path.isdir(path) else path
    check_socket(path)
    check_not_planted(path)
    return path


def check_not_planted(path: str) -> None:
    """Raises UsageError where another user has made the socket ``path``, or a folder
    above it, in one that all may write to, such as /tmp: he could answer for the
    service."""
    path = os.path.abspath(path)
    while path != os.path.dirname(path):
        above = os.path.dirname(path)
        with contextlib.suppress(OSError):
            owner = os.lstat(path).st_uid
            if owner not in (0, os.getuid()) and os.stat(above).st_mode & 0o002:
                raise UsageError(
                    f"{path}: user {owner} has made it where all may write; name "
                    "another folder: --sockets or PEGASUS_BB_STAGER"
                )
        path = above


def _no_service(path: str, error: OSError) -> NoService:
    if isinstance(error, PermissionError):
        if os.path.basename(path) == CONTROL_SOCKET:
            return NoService(f"{path}: only root and SlurmUser may use it")
        return NoService(
            f"{path}: {error.strerror}: the service is closed to you; its "
            "administrator gives the folder the mode 755, and the socket 666"
        )
    return NoService(f"{path}: no staging service: {error.strerror}")


def request_line(do: str, number: int, more: dict[str, Any]) -> bytes:
    """One request. Raises Refused where it is too long for the service."""
    line = encode({"v": VERSION, "id": number, "do": do, **more})
    if len(line) > LONGEST:
        raise Refused("too-long", "submit fewer tasks at a time, 10,000 say")
    return line


def result(message: dict[str, Any]) -> dict[str, Any]:
    """The ``ok`` of an answer. Raises Refused."""
    error = message.get("error")
    if error:
        raise Refused(str(error.get("code")), str(error.get("message")))
    ok: dict[str, Any] = message["ok"]
    return ok


def connect_or_start(sockets: str) -> Client:
    """A connection to the service of this user in folder ``sockets``, which is started
    if none runs: of several that start at once, one gets the lock and the others end.
    Raises NoService, also where the user's service has its sockets elsewhere."""
    try:
        return _answering(sockets)
    except NoService:
        pass
    reading, writing = os.pipe()
    try:
        serve = ["stager", "--sockets", sockets, "serve"]
        start(
            [sys.executable, "-m", "pegasus_bb", *serve],
            stdout=-3,
            stderr=writing,
            new_session=True,
        )
    finally:
        os.close(writing)
    with open(reading, "rb", buffering=0) as said:
        os.set_blocking(reading, False)
        until = time.monotonic() + _STARTING
        while True:
            try:
                return _answering(sockets)
            except NoService as error:
                if time.monotonic() > until:
                    why = (said.read(_SENTENCE) or b"").decode(errors="replace")
                    raise NoService(f"{error}; {why.strip()}".rstrip("; ")) from error
                time.sleep(0.02)


def _answering(sockets: str) -> Client:
    """A client that the service has accepted: one that is idle and about to end lets
    others connect and answers none. Raises NoService."""
    client = Client(sockets)
    try:
        client.ask("ping")
    except BaseException:
        client.close()
        raise
    return client
