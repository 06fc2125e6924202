"""A folder in which the service of Slurm's host and those of the nodes write letters.

    NODE/orders/FOLDER@NUMBER.json    for the node: what to do with a job's folder
    NODE/answers/FOLDER@NUMBER.json   from the node: what became of that order
    NODE/alive                        the node's last sign of life

A letter gets its name by a rename, so it is whole or not there. Whoever has acted on
a letter, durably, removes it. The same letter may be written again.
"""

from __future__ import annotations

import os
import re
import time
from typing import Any, NamedTuple

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import read_json, write_json
from pegasus_bb.core.units import abbreviate, format_duration
from pegasus_bb.stager.messages import message_of
from pegasus_bb.stager.nodes.job_record import NodesRecord
from pegasus_bb.stager.nodes.nodes_config import NodesConfig

ORDERS = "orders"
ANSWERS = "answers"
_LETTER = re.compile(r"(job\.[0-9]+\.[0-9]+)@([0-9]{1,18})\.json")
_PART = ".part"  # what a killed writer leaves
_QUIET = 30.0  # seconds without a sign of life that are worth a word


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
        try:
            os.unlink(self.path)
        except FileNotFoundError:
            return


class Mailbox:
    """Root's alone: an order names the user as whom a node copies."""

    def __init__(self, folder: str) -> None:
        """Raises OSError; UsageError where another user could write letters."""
        self._folder = folder
        os.makedirs(folder, mode=0o700, exist_ok=True)
        found = os.stat(folder)
        if found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise UsageError(
                f"mailbox {folder}: it is uid {found.st_uid}'s with mode "
                f"{found.st_mode & 0o777:o}; this service is uid {os.getuid()}'s and "
                f"wants it for itself; fix: chown -R {os.getuid()} {folder} && "
                f"chmod 700 {folder}; on NFS, root must stay root (no_root_squash)"
            )

    def open(self, node: str) -> None:
        """Make the folders of ``node``. Raises OSError."""
        for box in (ORDERS, ANSWERS):
            os.makedirs(self._path(node, box), mode=0o700, exist_ok=True)

    def sweep(self, node: str, box: str) -> None:
        """Remove what a killed writer left. Only the writer may. Raises OSError."""
        for name in os.listdir(self._path(node, box)):
            if name.endswith(_PART):
                os.unlink(self._path(node, box, name))

    def post(
        self, node: str, box: str, folder: str, number: int, data: dict[str, Any]
    ) -> None:
        """Write a letter; it is durable when this returns. Raises OSError."""
        write_json(self._path(node, box, f"{folder}@{number}.json"), data)

    def letters(self, node: str, box: str) -> list[Letter]:
        """Return what lies there, older orders first. Raises OSError."""
        found = []
        for name in os.listdir(self._path(node, box)):
            match = _LETTER.fullmatch(name)
            if match:
                path = self._path(node, box, name)
                found.append(Letter(match[1], int(match[2]), path))
        return sorted(found, key=lambda letter: letter.number)

    def beat(self, node: str) -> None:
        """Note that ``node`` is alive. Raises OSError."""
        path = self._path(node, "alive")
        with open(path + ".new", "w", encoding="ascii") as file:
            file.write(f"{int(time.time())}\n")
        os.replace(path + ".new", path)

    def end(self, node: str) -> None:
        """Note that the service of ``node`` ends."""
        try:
            os.unlink(self._path(node, "alive"))
        except OSError:
            return

    def silence(self, node: str) -> float | None:
        """Return seconds since the last sign of life; None where there is none."""
        try:
            return max(0.0, time.time() - os.stat(self._path(node, "alive")).st_mtime)
        except OSError:
            return None

    def _path(self, *names: str) -> str:
        return os.path.join(self._folder, *names)


class Orders:
    """An order is written once by each service: twice does no harm."""

    def __init__(self, config: NodesConfig) -> None:
        """Raises OSError, UsageError."""
        self._root, self._mailbox = config.path, Mailbox(config.mailbox)
        self._posted: set[tuple[str, int, str]] = set()
        self._trouble: dict[str, str] = {}  # with the letters of a node

    def send(self, record: NodesRecord) -> bool:
        """Write the order's letters that are not there; whether all of them are."""
        for node in record.silent:
            key = (record.folder, record.number, node)
            if key in self._posted:
                continue
            try:
                self._mailbox.open(node)
                order = record.order(node, self._root)
                self._mailbox.post(node, ORDERS, record.folder, record.number, order)
            except OSError as error:
                self._trouble[node] = message_of(error)
                return False
            self._posted.add(key)
        return True

    def collect(self, record: NodesRecord) -> list[str]:
        """Answers that were not there before go into ``record``; the nodes that gave
        them. Their letters stay until ``acknowledge``."""
        new = []
        for node in record.silent:
            try:
                for letter in self._mailbox.letters(node, ANSWERS):
                    if (letter.folder, letter.number) == (record.folder, record.number):
                        record.answers[node] = letter.read()
                        new.append(node)
                self._trouble.pop(node, None)
            except (OSError, ValueError) as error:
                self._trouble[node] = str(error)
        return new

    def acknowledge(self, record: NodesRecord, nodes: list[str]) -> None:
        """Remove the answers of ``nodes``, and older ones about the folder."""
        for node in nodes:
            try:
                for letter in self._mailbox.letters(node, ANSWERS):
                    if letter.folder == record.folder:
                        letter.drop()
            except OSError as error:
                self._trouble[node] = str(error)

    def forget(self, record: NodesRecord) -> None:
        """Forget an order: all about its folder is over."""
        self._posted = {key for key in self._posted if key[0] != record.folder}

    def state_of(self, node: str) -> str:
        """Return why there is no answer of ``node``, as far as is known."""
        silence = self._mailbox.silence(node)
        if node in self._trouble:
            return self._trouble[node]
        if silence is None:
            return "its service does not run"
        if silence > _QUIET:
            return f"no sign of life for {format_duration(silence)}"
        return "its service is at work"

    def silence_of(self, record: NodesRecord) -> str:
        """Return which nodes have not answered, and why."""
        return abbreviate([f"{n} ({self.state_of(n)})" for n in record.silent])
