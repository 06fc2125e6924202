"""One client on a Unix socket: who it is, its lines, our answers."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import deque
from typing import Any, Callable

from pegasus_bb.runtime.stager_client.protocol import Lines, Refused, decode, encode
from pegasus_bb.stager.task_waits import Wait

_AT_ONCE = 1 << 18  # bytes of one read, and of requests that wait
_UNANSWERED = 16  # requests; the next one waits until one of them is answered
_BEHIND = 1 << 20  # bytes of answers that were not read; the next request waits
_LONGEST_ID = 200

OnRequest = Callable[["Connection", dict[str, Any], bytes], None]


class Connection:
    """Calls ``on_request`` for each request; ``on_close`` once at the end."""

    def __init__(
        self,
        sock: socket.socket,
        loop: asyncio.AbstractEventLoop,
        on_request: OnRequest,
        on_close: Callable[[Connection], None],
    ) -> None:
        sock.setblocking(False)
        self._sock, self._loop = sock, loop
        self._on_request, self._on_close = on_request, on_close
        size = struct.calcsize("3i")
        peer = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        self.pid, self.uid, self.gid = struct.unpack("3i", peer)
        self._lines, self._out = Lines(), bytearray()
        self._requests: deque[bytes] = deque()  # that were read
        self._unread = self._unanswered = 0  # bytes of those; requests that were begun
        self._is_due = False  # the next of them
        self._is_reading = False
        self._waits: list[Wait] = []
        self.has_written = asyncio.Event()  # all answers so far
        self.has_written.set()
        self.is_open = True
        self._go_on()

    def answer(self, number: Any, ok: dict[str, Any]) -> None:
        """The request ``number`` is done."""
        self.send(encode({"id": number, "ok": ok}))

    def refuse(self, number: Any, refused: Refused) -> None:
        """The request ``number`` is not done."""
        error = {"code": refused.code, "message": str(refused)}
        self.send(encode({"id": number, "error": error}))

    def send(self, line: bytes) -> None:
        """The line of an answer."""
        if not self.is_open:
            return
        self._unanswered -= 1
        self._out += line
        if self.has_written.is_set():
            self.has_written.clear()
            self._writable()
        self._go_on()

    def keep(self, wait: Wait) -> None:
        """``wait`` is forgotten when the client goes."""
        self._waits = [one for one in (*self._waits, wait) if not one.is_over]

    def close(self) -> None:
        """No more is read or written."""
        if not self.is_open:
            return
        self.is_open = False
        self._loop.remove_reader(self._sock)
        self._loop.remove_writer(self._sock)
        self._sock.close()
        for wait in self._waits:
            wait.forget()
        self.has_written.set()
        self._on_close(self)

    def _readable(self) -> None:
        try:
            data = self._sock.recv(_AT_ONCE)
            lines = self._lines.feed(data) if data else None
        except BlockingIOError:
            return
        except (OSError, Refused):
            lines = None
        if lines is None:
            self.close()
            return
        self._requests.extend(lines)
        self._unread += sum(map(len, lines))
        self._go_on()

    def _go_on(self) -> None:
        """Begin the next request, after what others want; read if few wait."""
        if not self.is_open:
            return
        is_free = self._unanswered < _UNANSWERED and len(self._out) <= _BEHIND
        if self._requests and is_free and not self._is_due:
            self._is_due = True
            self._loop.call_soon(self._begin)
        wants = self._unread < _AT_ONCE or not self._requests
        if wants and not self._is_reading:
            self._loop.add_reader(self._sock, self._readable)
        elif self._is_reading and not wants:
            self._loop.remove_reader(self._sock)
        self._is_reading = wants

    def _begin(self) -> None:
        self._is_due = False
        if not self.is_open:
            return
        line = self._requests.popleft()
        self._unread -= len(line)
        self._unanswered += 1
        self._handle(line)
        self._go_on()

    def _handle(self, line: bytes) -> None:
        message: dict[str, Any] = {}
        try:
            message = decode(line)
            _check_id(message)
            self._on_request(self, message, line)
        except Refused as refused:
            self.refuse(message.get("id"), refused)
        except Exception as error:  # of one request: no other client feels it
            why = f"the service made a mistake: {error!r}"
            self.refuse(message.get("id"), Refused("internal", why))

    def _writable(self) -> None:
        try:
            sent = self._sock.send(self._out)
        except BlockingIOError:
            sent = 0
        except OSError:
            self.close()
            return
        del self._out[:sent]
        if self._out:
            self._loop.add_writer(self._sock, self._writable)
        else:
            self._loop.remove_writer(self._sock)
            self.has_written.set()
        self._go_on()


def _check_id(message: dict[str, Any]) -> None:
    """Every answer repeats the id: a short text or number. Raises Refused."""
    number = message.get("id")
    is_short = type(number) in (str, int) and len(repr(number)) <= _LONGEST_ID
    if number is not None and not is_short:
        message["id"] = None
        raise Refused("bad-request", "id is a number or a short text")
