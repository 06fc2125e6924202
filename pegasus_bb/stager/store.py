"""What the service knows durably, in an SQLite database: tasks, and Slurm's records.

One transaction makes all durable that came during the transaction before it.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Callable, Generic, NamedTuple, Optional, TypeVar

from pegasus_bb.core.files import sync_directory
from pegasus_bb.runtime.stager_client.task import Origin, StagerTask
from pegasus_bb.stager.messages import complain

Then = Callable[[Optional[OSError]], None]
Change = tuple[str, Iterable[Sequence[Any]]]  # a statement and its rows

_EARLIER = ("tasks.jsonl", "buffers.json", "jobs", "nodes", "errands")
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
CREATE TABLE IF NOT EXISTS records
    (kind TEXT, name TEXT, record TEXT, UNIQUE (kind, name));
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


AnyRecord = TypeVar("AnyRecord", bound="Record")

_MEND = "move it away: what it has is lost, and no folder is removed"
_END = ("state", "moved", "ended_at", "message", "outcome")


class Store:
    """The open database; one thread writes it."""

    def __init__(self, path: str, hand_over: Callable[[Callable[[], None]], Any]):
        """``hand_over`` runs what it is given in the thread of the caller. Raises
        OSError."""
        self._path, self._hand_over = path, hand_over
        self.trouble = ""  # why nothing can be written now; empty where it can
        _check_no_earlier(os.path.dirname(path))
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        try:
            self._db = sqlite3.connect(path, check_same_thread=False)
            self._db.executescript(_OPEN)
        except sqlite3.Error as error:
            raise OSError(errno.EIO, str(error), path) from error
        sync_directory(os.path.dirname(path))
        self._writing = threading.Lock()
        self._waiting: list[tuple[Iterable[Change], Then]] = []
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def read(self) -> Recovered:
        """Return everything that is durable. Raises OSError where it is damaged."""
        with self._explained():
            return self._read()

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, AttributeError, LookupError, TypeError, ValueError) as e:
            why = f"it is damaged ({e}); {_MEND}"
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

    def write(self, changes: Iterable[Change], then: Then = lambda error: None) -> None:
        """Make ``changes``; ``then`` is called when they are durable, or with the
        error."""
        with self._changed:
            self._waiting.append((changes, then))
            self._changed.notify()

    def write_now(self, changes: Iterable[Change]) -> None:
        """Make ``changes``, which are durable when this returns. Raises OSError."""
        error = self._written([changes])
        if error is not None:
            raise error

    def records(self, kind: str) -> list[Any]:
        """Return the records of one kind, oldest first, as they were saved. Raises
        OSError where one is damaged."""
        query = "SELECT record FROM records WHERE kind = ? ORDER BY rowid"
        with self._explained():
            rows = self._db.execute(query, (kind,))
            return [json.loads(text) for (text,) in rows]

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
        with self._writing:
            try:
                for changes in every:
                    for statement, rows in changes:
                        self._db.executemany(statement, rows)
                self._db.commit()
            except sqlite3.Error as error:
                with contextlib.suppress(sqlite3.Error):
                    self._db.rollback()
                until = "no task is accepted until it can be written"
                before, self.trouble = self.trouble, f"{self._path}: {error}: {until}"
                if not before:
                    complain(self.trouble)
                return OSError(errno.ENOSPC, str(error), self._path)
            self.trouble = ""
            return None


class Record:
    """An object that is stored: all its attributes but those with an underscore."""

    @property
    def key(self) -> str:
        """Its name among the records of its kind."""
        raise NotImplementedError


class Records(Generic[AnyRecord]):
    """All records of one kind, as they are on disk. Methods raise OSError."""

    def __init__(self, store: Store, kind: type[AnyRecord]) -> None:
        """Knows those of an earlier service."""
        self._store, self._kind = store, kind
        self._by_key: dict[str, AnyRecord] = {}
        for found in store.records(kind.__name__):
            record = kind()
            vars(record).update(found)
            self._by_key[record.key] = record

    def all(self) -> list[AnyRecord]:
        """Return all, oldest first."""
        return list(self._by_key.values())

    def get(self, key: str) -> AnyRecord | None:
        """Return the one with that ``key``."""
        return self._by_key.get(key)

    def save(self, record: AnyRecord, **changes: Any) -> None:
        """Store ``record`` with ``changes``, which it has when they are durable."""
        self._store.write_now(self.saved(record, **changes))
        vars(record).update(changes)
        self._by_key[record.key] = record

    def saved(self, record: AnyRecord, **changes: Any) -> list[Change]:
        """Return what stores ``record`` together with something else."""
        values = {**vars(record), **changes}
        known = {key: value for key, value in values.items() if key[0] != "_"}
        statement = (
            "INSERT INTO records VALUES (?, ?, ?) "
            "ON CONFLICT (kind, name) DO UPDATE SET record = excluded.record"
        )
        return [(statement, [(self._kind.__name__, record.key, json.dumps(known))])]

    def remove(self, record: AnyRecord) -> None:
        """Remove what is stored of ``record``; do nothing if there is nothing."""
        row = (self._kind.__name__, record.key)
        statement = "DELETE FROM records WHERE kind = ? AND name = ?"
        self._store.write_now([(statement, [row])])
        self._by_key.pop(record.key, None)


def _check_no_earlier(state: str) -> None:
    """Raises OSError where a version before this one has left what only it can read."""
    for name in _EARLIER:
        path = os.path.join(state, name)
        if os.path.exists(path):
            why = (
                "an earlier version has left it: let that version end its tasks, jobs "
                "and buffers, then remove it"
            )
            raise OSError(errno.EEXIST, why, path)


def _call(every: Sequence[Then], error: OSError | None) -> None:
    for then in every:
        then(error)
