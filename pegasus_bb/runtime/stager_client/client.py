"""What a program says to the service; the service of this user starts on demand."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time
from collections.abc import Sequence

from pegasus_bb.core.errors import SCHEDULER_UNREACHABLE, PegasusBBError, UsageError
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.core.process import start
from pegasus_bb.runtime.stager_client.protocol import (
    CONTROL_SOCKET,
    LONGEST,
    LONGEST_ANSWER,
    USER_SOCKET,
    VERSION,
    Refused,
    check_socket,
    decode,
    encode,
)

if TYPE_CHECKING:
    from typing import Any

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
        self._number = 0
        try:
            self._sock.connect(path)
        except OSError as error:
            self._sock.close()
            raise _no_service(path, error) from error
        self._answers = self._sock.makefile("rb", 1 << 18)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, tasks: Sequence[dict[str, Any]]) -> range:
        """Return the numbers of ``tasks``, which are durable then."""
        ok = self.ask("submit", tasks=list(tasks))
        return range(ok["first"], ok["first"] + ok["count"])

    def wait(self, tasks: Sequence[int]) -> list[dict[str, Any]]:
        """Return ``tasks`` as they have ended, when all have."""
        found: list[dict[str, Any]] = self.ask("wait", tasks=list(tasks))["tasks"]
        return found

    def status(
        self, tasks: Sequence[int] | None = None, **more: Any
    ) -> list[dict[str, Any]]:
        """Return ``tasks`` as they are now; None: all of this user."""
        ids = None if tasks is None else list(tasks)
        found: list[dict[str, Any]] = self.ask("status", tasks=ids, **more)["tasks"]
        return found

    def cancel(self, tasks: Sequence[int]) -> int:
        """Stop ``tasks``; how many of them ended as cancelled. One that was complete
        already is done."""
        return int(self.ask("cancel", tasks=list(tasks))["cancelled"])

    def ask(self, do: str, **more: Any) -> dict[str, Any]:
        """Return the ``ok`` of one request."""
        self._number += 1
        request = request_line(do, self._number, more)
        try:
            self._sock.sendall(request)
            return result(self._answer())
        except OSError as error:
            raise NoService(f"the staging service has gone: {error}") from error

    def close(self) -> None:
        """End the connection; tasks go on."""
        self._answers.close()
        self._sock.close()

    def _answer(self) -> dict[str, Any]:
        line = self._answers.readline(LONGEST_ANSWER)
        if not line.endswith(b"\n"):
            raise NoService(_GONE)
        return decode(line)


def _socket_of(path: str) -> str:
    """Return ``path``, or the socket for users in that folder. Raises UsageError."""
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
    """Return one request. Raises Refused where it is too long for the service."""
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
    """Connect to the service of this user in folder ``sockets``, which is started
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
