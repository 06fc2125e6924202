"""One client on a Unix socket: who it is, its requests, our answers."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Awaitable
from typing import Any, Callable, NamedTuple, Optional

from pegasus_bb.runtime.stager_client.protocol import Refused, decode, encode

_UNANSWERED = 16  # requests; the next one waits until one of them is answered
_BEHIND = 1 << 20  # bytes of answers that were not read; the next request waits
_LONGEST_ID = 200
_LOOK = 0.02  # seconds between two looks whether answers were read


class ClientRequest(NamedTuple):
    """One line of a client."""

    connection: Connection
    message: dict[str, Any]
    raw: bytes  # the line itself

    @property
    def number(self) -> Any:
        """What the answer repeats."""
        return self.message.get("id")


Answer = dict[str, Any]  # what stands under "ok"
# Returns None where the answer was sent.
OnRequest = Callable[[ClientRequest], Awaitable[Optional[Answer]]]


class Connection:
    """Calls ``on_request`` for each request; what it waits for is forgotten when the
    client goes."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        on_request: OnRequest,
    ) -> None:
        self._reader, self._writer, self._on_request = reader, writer, on_request
        sock = writer.get_extra_info("socket")
        size = struct.calcsize("3i")
        peer = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        _, self.uid, _ = struct.unpack("3i", peer)
        writer.transport.set_write_buffer_limits(_BEHIND)
        self._under_way: set[asyncio.Future[None]] = set()  # answers to come
        self.is_open = True

    async def serve(self) -> None:
        """Handle requests until the client goes, or sends too long a line."""
        with contextlib.suppress(OSError, ValueError):
            while self.is_open:
                await self._writer.drain()
                line = await self._reader.readline()
                if not line.endswith(b"\n"):
                    break
                while len(self._under_way) >= _UNANSWERED:
                    first = asyncio.FIRST_COMPLETED
                    await asyncio.wait(self._under_way, return_when=first)
                if line != b"\n":
                    answering = asyncio.ensure_future(self._answer(line))
                    self._under_way.add(answering)
                    answering.add_done_callback(self._under_way.discard)
                await asyncio.sleep(0)  # the turn of others
        self.close()

    def refuse(self, number: Any, refused: Refused) -> None:
        """Answer the request ``number``, which is not done."""
        error = {"code": refused.code, "message": str(refused)}
        self.send(encode({"id": number, "error": error}))

    def send(self, line: bytes) -> None:
        """Send the line of an answer."""
        if self.is_open:
            self._writer.write(line)

    async def has_written(self) -> None:
        """Return when all answers so far were read."""
        while self.is_open and self._writer.transport.get_write_buffer_size():
            await asyncio.sleep(_LOOK)

    async def has_answered(self) -> None:
        """Return when all requests so far are answered, and the answers were read."""
        if self._under_way:
            await asyncio.wait(self._under_way)
        await self.has_written()

    def close(self) -> None:
        """Read and write no more."""
        self.is_open = False
        self._writer.transport.abort()
        for answering in self._under_way:
            answering.cancel()

    async def _answer(self, line: bytes) -> None:
        """Answer a request, also where something goes wrong."""
        message: dict[str, Any] = {}
        try:
            message.update(decode(line))
            _check_id(message)
            ok = await self._on_request(ClientRequest(self, message, line))
            if ok is not None:
                self.send(encode({"id": message.get("id"), "ok": ok}))
        except Refused as refused:
            self.refuse(message.get("id"), refused)
        except Exception as error:  # of one request: no other client feels it
            why = f"the service made a mistake: {error!r}"
            self.refuse(message.get("id"), Refused("internal", why))


def _check_id(message: dict[str, Any]) -> None:
    """Every answer repeats the id: a short text or number. Raises Refused."""
    number = message.get("id")
    is_short = type(number) in (str, int) and len(repr(number)) <= _LONGEST_ID
    if number is not None and not is_short:
        message["id"] = None
        raise Refused("bad-request", "id is a number or a short text")
