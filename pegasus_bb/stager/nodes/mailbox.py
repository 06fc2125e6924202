"""A folder in which the service of Slurm's host and those of the nodes write letters.

    NODE/orders/FOLDER@NUMBER.json    for the node: what to do with a job's folder
    NODE/answers/FOLDER@NUMBER.json   from the node: what became of that order
    NODE/alive                        the node's last sign of life

A letter gets its name by a rename, so it is whole or not there. Whoever has acted on
a letter, durably, removes it. The same letter may be written again.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from typing import Any, NamedTuple

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import read_json, unlink_if_there, write_json

ORDERS = "orders"
ANSWERS = "answers"
_LETTER = re.compile(r"(job\.[0-9]+\.[0-9]+)@([0-9]{1,18})\.json")
_PART = ".part"  # what a killed writer leaves


class Letter(NamedTuple):
    """One that lies there."""

    folder: str  # of the job on the node
    number: int  # of the order; a later one is larger
    path: str

    def read(self) -> dict[str, Any]:
        """Raises OSError, ValueError."""
        data = read_json(self.path)
        if not isinstance(data, dict):
            raise ValueError(f"{self.path}: no object")
        return data

    def drop(self) -> None:
        """Remove it, if it is there: it was acted on. Raises OSError."""
        unlink_if_there(self.path)


class NodeBox:
    """The letters of one node. Methods raise OSError."""

    def __init__(self, mailbox: str, node: str) -> None:
        self._folder = os.path.join(mailbox, node)

    def open(self) -> None:
        """Make its folders."""
        for box in (ORDERS, ANSWERS):
            os.makedirs(self._path(box), mode=0o700, exist_ok=True)

    def sweep_answers(self) -> None:
        """Remove what a killed writer left. Only the writer may."""
        for name in os.listdir(self._path(ANSWERS)):
            if name.endswith(_PART):
                os.unlink(self._path(ANSWERS, name))

    def post(self, box: str, folder: str, number: int, data: dict[str, Any]) -> None:
        """Write a letter; it is durable when this returns."""
        write_json(self._letter(box, folder, number), data)

    def post_once(self, folder: str, number: int, order: dict[str, Any]) -> None:
        """Write an order, unless it lies there."""
        if not os.path.lexists(self._letter(ORDERS, folder, number)):
            self.open()
            self.post(ORDERS, folder, number, order)

    def answer(self, folder: str, number: int) -> dict[str, Any] | None:
        """Return what the node has answered to an order; None: nothing yet. Raises
        ValueError, too."""
        path = self._letter(ANSWERS, folder, number)
        return Letter(folder, number, path).read() if os.path.exists(path) else None

    def letters(self, box: str) -> list[Letter]:
        """Return what lies there, older orders first."""
        found = []
        for name in os.listdir(self._path(box)):
            match = _LETTER.fullmatch(name)
            if match:
                found.append(Letter(match[1], int(match[2]), self._path(box, name)))
        return sorted(found, key=lambda letter: letter.number)

    def beat(self) -> None:
        """Note that the node is alive."""
        with open(self._path("alive"), "w", encoding="ascii") as file:
            file.write(f"{int(time.time())}\n")

    def end(self) -> None:
        """Note that the service of the node ends."""
        with contextlib.suppress(OSError):
            unlink_if_there(self._path("alive"))

    def silence(self) -> float | None:
        """Return seconds since the last sign of life; None where there is none."""
        try:
            return max(0.0, time.time() - os.stat(self._path("alive")).st_mtime)
        except OSError:
            return None

    def _letter(self, box: str, folder: str, number: int) -> str:
        return self._path(box, f"{folder}@{number}.json")

    def _path(self, *names: str) -> str:
        return os.path.join(self._folder, *names)


def check_mailbox(folder: str) -> None:
    """Make it, if it is not there: root's alone, for an order names the user as whom a
    node copies. Raises OSError; UsageError where another user could write letters."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    found = os.stat(folder)
    if found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise UsageError(
            f"mailbox {folder}: it is uid {found.st_uid}'s with mode "
            f"{found.st_mode & 0o777:o}; this service is uid {os.getuid()}'s and "
            f"wants it for itself; fix: chown -R {os.getuid()} {folder} && "
            f"chmod 700 {folder}; on NFS, root must stay root (no_root_squash)"
        )
