"""What the service has accepted and what has ended, durable and in one file.

Three kinds of lines: ``{"first": 17, "uid": 1000, "at": ..., "request": {...}}`` for
the tasks 17, 18, ... of a request, ``{"began": [17, 18], "tag": "..."}`` before a
worker makes temporary files with that tag, and ``{"ended": [[17, "done", ...]]}``.
Group commit: while one sync runs, lines gather for the next. A line that a crash has
torn is cut off; its request was never answered.
"""

from __future__ import annotations

import json
import os
import threading
import time
from functools import partial
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from pegasus_bb.files import sync_directory, write_text
from pegasus_bb.service.task import Origin, Task

Then = Callable[[Optional[OSError]], None]
KEEP = 3600.0  # seconds for which an ended task can still be asked for
_KEPT = 10_000  # of these at the most, once they are older than
_NEW = 60.0  # seconds: its client may be just about to ask


class Recovered:
    """What the journal of an earlier service says."""

    def __init__(
        self, next_id: int, tasks: Dict[int, Task], tags: Dict[int, List[str]]
    ) -> None:
        """``tags``: of the tries that did not end, by task."""
        self.next_id, self.tasks, self.tags = next_id, tasks, tags


def read(path: str) -> Recovered:
    """Everything that was durable. Raises OSError."""
    found = Recovered(1, {}, {})
    for entry in _entries(path):
        if "next" in entry:
            found.next_id = max(found.next_id, int(entry["next"]))
        elif "first" in entry:
            for task in _tasks(entry):
                found.tasks[task.id] = task
                found.next_id = max(found.next_id, task.id + 1)
        elif "began" in entry:
            for number in entry["began"]:
                found.tags.setdefault(number, []).append(entry["tag"])
        for number, state, moved, ended_at, message, *more in entry.get("ended", ()):
            done = found.tasks.get(number)
            if done is not None:
                done.state, done.moved, done.message = state, moved, message
                done.ended_at = ended_at
                done.outcome = more[0] if more else done.outcome
                found.tags.pop(number, None)
    forget_old(found)
    return found


def rewrite(path: str, found: Recovered) -> None:
    """Put only what ``found`` holds into the journal. Raises OSError."""
    lines: List[Dict[str, Any]] = [{"next": found.next_id}]
    for task in found.tasks.values():
        line = accepted(task.id, task.uid, task.origin.submitted, [_spec(task)])
        lines.append({**line, "of": task.origin.first})
        lines += [{"began": [task.id], "tag": t} for t in found.tags.get(task.id, ())]
        if task.has_ended:
            lines.append(ended([task]))
    write_text(path, "".join(json.dumps(line) + "\n" for line in lines))


def accepted(
    first: int, uid: int, at: float, specs: List[Dict[str, Any]]
) -> Dict[str, Any]:
    """The line of tasks that were accepted together."""
    return {"first": first, "uid": uid, "at": at, "request": {"tasks": specs}}


def ended(tasks: List[Task]) -> Dict[str, Any]:
    """The line of tasks that have ended."""
    return {"ended": [_ended(task) for task in tasks]}


def _ended(task: Task) -> List[Any]:
    said = [task.id, task.state, task.moved, task.ended_at, task.message]
    return [*said, task.outcome] if task.outcome else said


class Journal:
    """The open journal; one service writes it."""

    def __init__(self, path: str, hand_over: Callable[[Callable[[], None]], Any]):
        """``hand_over`` runs what it is given in the thread of the caller."""
        self._hand_over = hand_over
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._file = os.open(path, flags, 0o600)
        sync_directory(os.path.dirname(path))
        self._end = os.lseek(self._file, 0, os.SEEK_END)
        self._lines: List[Tuple[bytes, Then]] = []
        self._changed = threading.Condition()
        self._untold = 0  # lines whose ``then`` was not called yet
        self._closed = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def append(self, line: Dict[str, Any], then: Then) -> None:
        """Write ``line``; ``then`` is called when it is durable, or with the error."""
        self.append_raw(json.dumps(line, separators=(",", ":")).encode(), then)

    def append_raw(self, line: bytes, then: Then) -> None:
        """The same of a line that is JSON already, without its line break."""
        with self._changed:
            self._lines.append((line, then))
            self._changed.notify()

    @property
    def is_quiet(self) -> bool:
        """Whether nothing waits to be written or to be told."""
        with self._changed:
            return not self._lines and not self._untold

    def close(self) -> None:
        """All that was appended is durable, or was refused, when this returns."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()
        os.close(self._file)

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._lines and not self._closed:
                    self._changed.wait()
                taken, self._lines = self._lines, []
                self._untold += len(taken)
            if not taken:
                return
            error = self._written(b"".join(line + b"\n" for line, _ in taken))
            self._hand_over(partial(self._tell, taken, error))

    def _tell(self, taken: List[Tuple[bytes, Then]], error: Optional[OSError]) -> None:
        for _, then in taken:
            then(error)
        with self._changed:
            self._untold -= len(taken)

    def _written(self, data: bytes) -> Optional[OSError]:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._file, view) :]
            os.fdatasync(self._file)
        except OSError as error:
            os.ftruncate(self._file, self._end)  # no half of it may be read later
            return error
        self._end += len(data)
        return None


def _entries(path: str) -> Iterator[Dict[str, Any]]:
    if not os.path.exists(path):
        return
    whole = 0
    with open(path, "rb") as file:
        for line in file:
            try:
                entry = json.loads(line.decode()) if line.endswith(b"\n") else None
            except (ValueError, RecursionError):
                entry = None
            if not isinstance(entry, dict):
                break  # torn: nothing after it was ever answered
            whole += len(line)
            yield entry
    if whole < os.path.getsize(path):
        os.rename(path, f"{path}.torn")  # rewrite() makes a new one of what was read


def _tasks(entry: Dict[str, Any]) -> Iterator[Task]:
    first = entry["first"]
    origin = Origin(entry["uid"], entry["at"], entry.get("of", first))
    for number, spec in enumerate(entry["request"]["tasks"], start=first):
        yield Task(number, origin, spec)


def _spec(task: Task) -> Dict[str, Any]:
    spec: Dict[str, Any] = {"kind": task.kind, "source": task.source}
    if task.dest:
        spec["dest"] = task.dest
    if task.deadline is not None:
        spec["deadline"] = task.deadline
    for key in ("priority", "rate", "size", "digest"):
        if getattr(task, key):
            spec[key] = getattr(task, key)
    return spec


def forget_old(found: Recovered) -> None:
    """Drop ended tasks that are older than ``KEEP``, or too many. While one task of a
    request has not ended, its client may ask for all of them."""
    tasks = found.tasks.values()
    asked = {task.origin for task in tasks if not task.has_ended}
    old = [t for t in tasks if t.has_ended and t.origin not in asked]
    old.sort(key=lambda task: -task.ended_at)
    now = time.time()
    for place, task in enumerate(old):
        age = now - task.ended_at
        if age > KEEP or (place >= _KEPT and age > _NEW):
            del found.tasks[task.id]
