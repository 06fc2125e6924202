"""One client on a Unix socket: who it is, its lines, its descriptors, our answers."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from typing import Any, Callable, Dict, List

from pegasus_bb.service.memory import MOST, receive_descriptors
from pegasus_bb.service.protocol import Lines, Refused, decode, encode

_AT_ONCE = 1 << 18  # bytes of one read
_WAITING = 4 * MOST  # descriptors that no request has named
_BEHIND = 16 << 20  # unread bytes with which a client gets no further answer
_LONGEST_ID = 200

OnRequest = Callable[["Connection", Dict[str, Any], bytes], None]


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
        self._descriptors: List[int] = []  # that came, and no request has taken
        self._taken: List[int] = []  # by the request that is handled
        self._lines, self._out = Lines(), bytearray()
        self.is_open = True
        loop.add_reader(sock, self._readable)

    def answer(self, number: Any, ok: Dict[str, Any]) -> None:
        """The request ``number`` is done."""
        self.send(encode({"id": number, "ok": ok}))

    def refuse(self, number: Any, refused: Refused) -> None:
        """The request ``number`` is not done."""
        error = {"code": refused.code, "message": str(refused)}
        self.send(encode({"id": number, "error": error}))

    def send(self, line: bytes) -> None:
        """The line of an answer. A client that does not read is left."""
        if not self.is_open:
            return
        if len(self._out) > _BEHIND:
            self.close()
            return
        was_empty = not self._out
        self._out += line
        if was_empty:
            self._writable()

    def close(self) -> None:
        """No more is read or written."""
        if not self.is_open:
            return
        self.is_open = False
        self._loop.remove_reader(self._sock)
        self._loop.remove_writer(self._sock)
        self._sock.close()
        self._taken += self._descriptors
        self._descriptors = []
        self._close_taken()
        self._on_close(self)

    def _readable(self) -> None:
        try:
            data = receive_descriptors(self._sock, _AT_ONCE, self._descriptors)
            lines = self._lines.feed(data) if data else None
        except BlockingIOError:
            return
        except (OSError, Refused):
            lines = None
        if lines is None or len(self._descriptors) > _WAITING:
            self.close()
            return
        for line in lines:
            self._handle(line)
            self._close_taken()

    def _handle(self, line: bytes) -> None:
        message: Dict[str, Any] = {}
        try:
            message = decode(line)
            _check_id(message)
            self._on_request(self, message, line)
        except Refused as refused:
            self.refuse(message.get("id"), refused)
        except Exception as error:  # of one request: no other client feels it
            why = f"the service made a mistake: {error!r}"
            self.refuse(message.get("id"), Refused("internal", why))

    def take_descriptors(self, count: Any) -> List[int]:
        """The first ``count`` that came; they are closed after the request. Raises
        Refused where they did not come."""
        if type(count) is not int or not 0 <= count <= len(self._descriptors):
            why = f"descriptors {count!r}: so many did not come with the request"
            raise Refused("bad-descriptor", why)
        self._taken += self._descriptors[:count]
        del self._descriptors[:count]
        return list(self._taken)

    def _close_taken(self) -> None:
        for descriptor in self._taken:
            os.close(descriptor)
        self._taken = []

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


def _check_id(message: Dict[str, Any]) -> None:
    """Every answer repeats the id: a short text or number. Raises Refused."""
    number = message.get("id")
    is_short = isinstance(number, (str, int)) and len(repr(number)) <= _LONGEST_ID
    if number is not None and not is_short:
        message["id"] = None
        raise Refused("bad-request", "id is a number or a short text")
