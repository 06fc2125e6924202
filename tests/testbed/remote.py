"""A backend that runs as another user in the testbed; calls and answers are pickles.

As a program (inside): serves the datawarp backend on stdin and stdout.
"""

from __future__ import annotations

import pickle
import shutil
import struct
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import pegasus_bb
from pegasus_bb.model.reservation import Request, Reservation, Status
from pegasus_bb.process import start
from pegasus_bb.reservation.base import Backend, Listing, Pool
from pegasus_bb.reservation.datawarp import DataWarp

_LENGTH = struct.Struct(">I")
_CODE = ("__init__.py", "errors.py", "files.py", "units.py", "process.py")
_CODE += ("paths.py", "removal.py")


def send(pipe: IO[bytes], message: Any) -> None:
    data = pickle.dumps(message)
    pipe.write(_LENGTH.pack(len(data)) + data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """Raises EOFError where the other side has ended."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    return pickle.loads(pipe.read(*_LENGTH.unpack(head)))  # noqa: S301 - our own child


def copy_code(folder: Path) -> Path:
    """This file and what it imports, where the testbed sees it."""
    package = Path(pegasus_bb.__file__).parent
    shutil.rmtree(folder, ignore_errors=True)
    for room in ("model", "reservation"):
        shutil.copytree(package / room, folder / "pegasus_bb" / room)
    for name in _CODE:
        shutil.copyfile(package / name, folder / "pegasus_bb" / name)
    return Path(shutil.copyfile(__file__, folder / "remote.py"))


class Remote(Backend):
    """Every call is made by a process inside."""

    def __init__(self, argv: list[str], settings: Mapping[str, str]) -> None:
        pipe = -1  # subprocess.PIPE
        self.process = start(argv, stdin=pipe, stdout=pipe)
        assert self.process.stdin is not None
        send(self.process.stdin, dict(settings))

    def _ask(self, method: str, *arguments: Any) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        send(self.process.stdin, (method, arguments))
        answer = receive(self.process.stdout)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def create(self, request: Request) -> Reservation:
        found: Reservation = self._ask("create", request)
        return found

    def status(self, request: Request) -> Status:
        found: Status = self._ask("status", request)
        return found

    def path(self, request: Request, environ: Mapping[str, str]) -> str:
        return str(self._ask("path", request, dict(environ)))

    def delete(self, request: Request) -> None:
        self._ask("delete", request)

    def pools(self) -> list[Pool]:
        return list(self._ask("pools"))

    def list_reservations(self, requests: Sequence[Request]) -> Listing:
        found: Listing = self._ask("list_reservations", list(requests))
        return found

    def endpoint_id(self) -> str:
        return str(self._ask("endpoint_id"))

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def serve() -> None:
    """Until the other side has ended."""
    backend = DataWarp(receive(sys.stdin.buffer))
    while True:
        try:
            method, arguments = receive(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = getattr(backend, method)(*arguments)
        except Exception as error:  # whatever it is belongs to the caller
            answer = error
        send(sys.stdout.buffer, answer)


if __name__ == "__main__":
    serve()
