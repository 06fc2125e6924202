"""What the service has accepted and what has ended, durable in an SQLite database.

One transaction makes all durable that came during the transaction before it.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Callable, NamedTuple, Optional

from pegasus_bb.core.files import sync_directory
from pegasus_bb.runtime.stager_client.task import Origin, StagerTask
from pegasus_bb.stager.messages import complain

Then = Callable[[Optional[OSError]], None]
Change = tuple[str, Iterable[Sequence[Any]]]  # a statement and its rows

_LEAST = 1 << 20  # bytes of free space: a transaction
_EARLIER = "tasks.jsonl"  # the journal of earlier versions
# No other process reads it, and so SQLite needs no shared memory (-shm).
_OPEN = """
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA cache_size = -256;
PRAGMA wal_autocheckpoint = 4000;
CREATE TABLE IF NOT EXISTS requests
    (first INTEGER PRIMARY KEY, uid INTEGER, at REAL, line BLOB);
CREATE TABLE IF NOT EXISTS ends (task INTEGER PRIMARY KEY, end TEXT);
CREATE TABLE IF NOT EXISTS tags
    (task INTEGER, tag TEXT, PRIMARY KEY (task, tag)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, value TEXT);
"""


class Recovered(NamedTuple):
    """What an earlier service has left."""

    next_id: int
    tasks: dict[int, StagerTask]
    tags: dict[int, list[str]]  # of the tries that did not end, by task
    learned: Any  # see Estimates.learned


def accepted(origin: Origin, line: bytes) -> list[Change]:
    """Record a request; ``line`` is what its client wrote."""
    row = (origin.first, origin.uid, origin.submitted, line)
    return [("INSERT INTO requests VALUES (?, ?, ?, ?)", [row])]


def began(tasks: Sequence[int], tag: str) -> list[Change]:
    """Record the tag of the temporary files of ``tasks``."""
    return [("INSERT OR IGNORE INTO tags VALUES (?, ?)", [(n, tag) for n in tasks])]


def ended(tasks: Sequence[StagerTask]) -> list[Change]:
    """Record how ``tasks`` have ended."""
    rows = [(task.id, json.dumps([getattr(task, n) for n in _END])) for task in tasks]
    return [
        ("INSERT OR REPLACE INTO ends VALUES (?, ?)", rows),
        ("DELETE FROM tags WHERE task = ?", [(task.id,) for task in tasks]),
    ]


def forgotten(origin: Origin, next_id: int) -> list[Change]:
    """Remove a request and its tasks; their numbers are given to no other."""
    both = (origin.first, origin.first + origin.total - 1)
    return [
        *noted("next", next_id),
        ("DELETE FROM requests WHERE first = ?", [both[:1]]),
        ("DELETE FROM ends WHERE task BETWEEN ? AND ?", [both]),
    ]


def noted(name: str, value: Any) -> list[Change]:
    """Record ``value``, which is JSON, under ``name``."""
    return [("INSERT OR REPLACE INTO notes VALUES (?, ?)", [(name, json.dumps(value))])]


_END = ("state", "moved", "ended_at", "message", "outcome")


class Store:
    """The open database; one thread writes it."""

    def __init__(self, path: str, hand_over: Callable[[Callable[[], None]], Any]):
        """``hand_over`` runs what it is given in the thread of the caller. Raises
        OSError."""
        self._path, self._hand_over = path, hand_over
        self._refuses = ""  # why the latest changes were not written, until some are
        earlier = os.path.join(os.path.dirname(path), _EARLIER)
        if os.path.exists(earlier):
            why = (
                "the journal of an earlier version: let that version end its tasks "
                "(pegasus-bb stager control drain), then remove the file"
            )
            raise OSError(errno.EEXIST, why, earlier)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        try:
            self._db = sqlite3.connect(path, check_same_thread=False)
            self._db.executescript(_OPEN)
        except sqlite3.Error as error:
            raise OSError(errno.EIO, str(error), path) from error
        sync_directory(os.path.dirname(path))
        self._waiting: list[tuple[Iterable[Change], Then]] = []
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def read(self) -> Recovered:
        """Return everything that is durable. Raises OSError where it is damaged."""
        try:
            return self._read()
        except (sqlite3.Error, AttributeError, LookupError, TypeError, ValueError) as e:
            why = f"it is damaged ({e}); move it away: the tasks in it are lost"
            raise OSError(errno.EIO, why, self._path) from e

    def _read(self) -> Recovered:
        tasks: dict[int, StagerTask] = {}
        tags: dict[int, list[str]] = {}
        notes = {
            name: json.loads(value)
            for name, value in self._db.execute("SELECT name, value FROM notes")
        }
        for first, uid, at, line in self._db.execute(
            "SELECT first, uid, at, line FROM requests ORDER BY first"
        ):
            specs = json.loads(line)["tasks"]
            origin = Origin(uid, at, first, len(specs))
            for number, spec in enumerate(specs, first):
                tasks[number] = StagerTask(number, origin, spec)
        for number, end in self._db.execute("SELECT task, end FROM ends"):
            for name, value in zip(_END, json.loads(end)):
                setattr(tasks[number], name, value)
        for number, tag in self._db.execute("SELECT task, tag FROM tags"):
            tags.setdefault(number, []).append(tag)
        next_id = max([notes.get("next", 1), *(number + 1 for number in tasks)])
        return Recovered(next_id, tasks, tags, notes.get("learned", []))

    def write(self, changes: Iterable[Change], then: Then) -> None:
        """Make ``changes``; ``then`` is called when they are durable, or with the
        error."""
        with self._changed:
            self._waiting.append((changes, then))
            self._changed.notify()

    @property
    def trouble(self) -> str:
        """Why nothing can be written now; empty where it can."""
        return self._refuses or why_full(os.path.dirname(self._path))

    @property
    def refuses(self) -> bool:
        """Whether the latest changes were not written."""
        return bool(self._refuses)

    def close(self) -> None:
        """Return when all changes are durable or were refused."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()
        self._db.close()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                taken, self._waiting = self._waiting, []
            if not taken:
                return
            error = self._written(changes for changes, _ in taken)
            self._hand_over(partial(_call, [then for _, then in taken], error))

    def _written(self, every: Iterable[Iterable[Change]]) -> OSError | None:
        try:
            for changes in every:
                for statement, rows in changes:
                    self._db.executemany(statement, rows)
            self._db.commit()
        except sqlite3.Error as error:
            with contextlib.suppress(sqlite3.Error):
                self._db.rollback()
            why = f"{self._path}: {error}: no task is accepted until it can be written"
            if not self._refuses:
                complain(why)
            self._refuses = why
            return OSError(errno.EIO, str(error))
        self._refuses = ""
        return None


def _call(every: Sequence[Then], error: OSError | None) -> None:
    for then in every:
        then(error)


def why_full(folder: str) -> str:
    """Return what to tell where the disk of ``folder`` takes nothing more; empty where
    it does, or where that cannot be known. A quota is not looked at."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return ""
    blocks = disk.f_bfree if os.getuid() == 0 else disk.f_bavail  # some are root's
    if blocks * disk.f_frsize < _LEAST:
        return f"{folder}: no space left on its disk: no task is accepted"
    if disk.f_files and not disk.f_ffree:
        return f"{folder}: its disk takes no more files: no task is accepted"
    return ""
