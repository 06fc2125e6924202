"""What the service has accepted and what has ended, durable and in one file.

Lines: ``{"first": 17, "uid": 1000, "at": ..., "request": {...}}`` for the tasks 17, 18,
... of a request, ``{"began": [17, 18], "tag": "..."}`` before a worker makes temporary
files with that tag, ``{"ended": [[17, "done", ...]]}``, and ``{"learned": [...]}`` of
estimate.py. A tab and a CRC-32 are at the end of each. Group commit: while one sync
runs, lines gather for the next. A line that a crash has torn is the last one, and its
request was never answered. A line that is damaged is skipped, and what follows is read;
where the line break itself is damaged, the checksum says where the line ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import threading
import time
import zlib
from collections.abc import Iterator
from functools import partial
from typing import Any, Callable, Optional

from pegasus_bb.core.files import sync_directory, write_text
from pegasus_bb.runtime.stager_client.task import ENDS, PLAIN, Origin, Task, Terms
from pegasus_bb.stager.estimate import Estimates
from pegasus_bb.stager.messages import complain

Then = Callable[[Optional[OSError]], None]
_LOST = 1_000_000  # numbers that the tasks of damaged lines may have had
_SEAL = re.compile(rb"\t([0-9a-f]{8})")


class Recovered:
    """What the journal of an earlier service says."""

    def __init__(
        self,
        next_id: int,
        tasks: dict[int, Task],
        tags: dict[int, list[str]],
        learned: Any = (),
    ) -> None:
        """``tags``: of the tries that did not end, by task. ``learned``: see
        Estimates.learned."""
        self.next_id, self.tasks, self.tags = next_id, tasks, tags
        self.learned = learned
        self.damaged: list[int] = []  # numbers of lines that cannot be read


def read(path: str) -> Recovered:
    """Everything that was durable. Raises OSError."""
    found = Recovered(1, {}, {})
    for number, line in _lines(path):
        try:
            _add(found, decode_line(line))
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            found.damaged.append(number)
    if found.damaged:
        found.next_id += _LOST  # no other task gets the number of a lost one
    return found


def keep_damaged(path: str, found: Recovered) -> str:
    """Keep the file beside the one that takes its name next; what to tell the
    administrator. It takes no space: the disk may be full. Raises OSError."""
    beside = f"{path}.damaged-{time.strftime('%Y%m%dT%H%M%S')}"
    os.link(path, beside)
    os.chmod(beside, 0o600)
    lines = ", ".join(map(str, found.damaged[:10]))
    more = f" and {len(found.damaged) - 10} more" if len(found.damaged) > 10 else ""
    return (
        f"{path}: line {lines}{more} is damaged and was skipped; tasks that it names "
        f"may be lost or done again. The whole file is kept as {beside}"
    )


def _add(found: Recovered, entry: dict[str, Any]) -> None:
    """All of ``entry`` or nothing. Raises ValueError and such for no line of ours."""
    if "next" in entry:
        found.next_id = max(found.next_id, int(entry["next"]))
    elif "first" in entry:
        tasks = {task.id: task for task in _tasks(entry)}
        found.next_id = max(found.next_id, *(number + 1 for number in tasks))
        found.tasks.update(tasks)
    elif "began" in entry:
        tag = str(entry["tag"])
        for number in [int(number) for number in entry["began"]]:
            found.tags.setdefault(number, []).append(tag)
    elif "learned" in entry:
        Estimates().recall(entry["learned"])
        found.learned = entry["learned"]
    else:
        for end in [_End(*end) for end in entry["ended"]]:
            end.tell(found)


class _End:
    """How a task has ended."""

    def __init__(
        self,
        number: int,
        state: str,
        moved: int,
        ended_at: float,
        message: str,
        outcome: dict[str, Any] | None = None,
    ) -> None:
        if state not in ENDS:
            raise ValueError(state)
        self._number, self._state, self._moved = int(number), state, int(moved)
        self._ended_at, self._message = float(ended_at), str(message)
        self._outcome = None if outcome is None else dict(outcome)

    def tell(self, found: Recovered) -> None:
        task = found.tasks.get(self._number)
        if task is None:
            return
        task.state, task.moved, task.message = self._state, self._moved, self._message
        task.ended_at = self._ended_at
        task.outcome = task.outcome if self._outcome is None else self._outcome
        found.tags.pop(self._number, None)


def rewrite(path: str, found: Recovered) -> None:
    """Put only what ``found`` holds into the journal. Raises OSError."""
    lines: list[dict[str, Any]] = [{"next": found.next_id}]
    lines.append({"learned": found.learned})
    for task in found.tasks.values():
        line = accepted(task.id, task.uid, task.origin.submitted, [_spec(task)])
        lines.append({**line, "of": task.origin.first})
        lines += [{"began": [task.id], "tag": t} for t in found.tags.get(task.id, ())]
        if task.has_ended:
            lines.append(ended([task]))
    write_text(path, b"".join(map(encode_line, lines)).decode(), 0o600)


def accepted(
    first: int, uid: int, at: float, specs: list[dict[str, Any]]
) -> dict[str, Any]:
    """The line of tasks that were accepted together."""
    return {"first": first, "uid": uid, "at": at, "request": {"tasks": specs}}


def encode_line(entry: dict[str, Any]) -> bytes:
    """``entry`` as one line."""
    return seal(json.dumps(entry, separators=(",", ":")).encode())


def decode_line(line: bytes) -> dict[str, Any]:
    """The entry of one line. Raises ValueError, RecursionError where it is damaged."""
    data = line[: -len("\t12345678\n")]
    if not data or line != seal(data):
        raise ValueError("it is not as it was written")
    entry = json.loads(data.decode())
    if not isinstance(entry, dict):
        raise ValueError("it is no object")
    return entry


def seal(data: bytes) -> bytes:
    """The line of ``data``, which is JSON."""
    return b"%b\t%08x\n" % (data, zlib.crc32(data) & 0xFFFFFFFF)


def ended(tasks: list[Task]) -> dict[str, Any]:
    """The line of tasks that have ended."""
    return {"ended": [_ended(task) for task in tasks]}


def _ended(task: Task) -> list[Any]:
    end = [task.id, task.state, task.moved, task.ended_at, task.message]
    return [*end, task.outcome] if task.outcome else end


class Journal:
    """The open journal; one service writes it."""

    def __init__(self, path: str, hand_over: Callable[[Callable[[], None]], Any]):
        """``hand_over`` runs what it is given in the thread of the caller."""
        self._path, self._hand_over = path, hand_over
        self._file = -1  # where it is not open
        self._open()
        self._lines: list[tuple[bytes, Then]] = []
        self._changed = threading.Condition()
        self._untold = 0  # lines whose ``then`` was not called yet
        self._when_quiet: Callable[[], None] | None = None  # lines wait for it
        self._closed = False
        self.refuses = ""  # why the latest lines were not written, until some are
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _open(self) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        file = os.open(self._path, flags, 0o600)
        try:
            self._end = os.lseek(file, 0, os.SEEK_END)
            # What a crash has torn ends where the next line begins.
            is_torn = self._end and os.pread(file, 1, self._end - 1) != b"\n"
            self._before = b"\n" if is_torn else b""
            sync_directory(os.path.dirname(self._path))
        except BaseException:
            os.close(file)
            raise
        self._file = file

    def _shut(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def append(self, line: dict[str, Any], then: Then) -> None:
        """Write ``line``; ``then`` is called when it is durable, or with the error."""
        self.append_raw(json.dumps(line, separators=(",", ":")).encode(), then)

    def append_raw(self, line: bytes, then: Then) -> None:
        """The same of a line that is JSON already, without its line break."""
        with self._changed:
            self._lines.append((line, then))
            self._changed.notify()

    def when_quiet(self, step: Callable[[], None]) -> None:
        """Call ``step`` when all that is written was told. What is appended meanwhile
        waits, so clients that never pause cannot put it off."""
        with self._changed:
            self._when_quiet = step
        self._take_step()

    def _take_step(self) -> None:
        with self._changed:
            if self._when_quiet is None or self._untold:
                return
            try:
                self._when_quiet()
            finally:
                self._when_quiet = None
                self._changed.notify()

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._end

    def rewrite(self, found: Recovered) -> None:
        """Put only what ``found`` holds into it; see ``when_quiet``. Raises OSError: it
        goes on with what it had. Where it cannot be opened, the next line tries again.
        """
        try:
            rewrite(self._path, found)
        finally:
            self._shut()  # nothing goes into a file that may have no name any more
            self._open()

    def close(self) -> None:
        """All that was appended is durable, or was refused, when this returns."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()
        self._shut()

    def _work(self) -> None:
        while True:
            with self._changed:
                while (self._when_quiet or not self._lines) and not self._closed:
                    self._changed.wait()
                taken, self._lines = self._lines, []
                self._untold += len(taken)
            if not taken:
                return
            error = self._written(b"".join(seal(line) for line, _ in taken))
            self._hand_over(partial(self._tell, taken, error))

    def _tell(self, taken: list[tuple[bytes, Then]], error: OSError | None) -> None:
        for _, then in taken:
            then(error)
        with self._changed:
            self._untold -= len(taken)
        self._take_step()

    def _written(self, data: bytes) -> OSError | None:
        """None when ``data`` is durable; else no half of it may be read later."""
        try:
            if self._file < 0:
                self._open()
            self._cut()  # where an earlier one could not be cut
            view = memoryview(self._before + data)
            while view:
                view = view[os.write(self._file, view) :]
            os.fdatasync(self._file)
        except OSError as error:
            with contextlib.suppress(OSError):
                self._cut()
            self._complain(error)
            return error
        self._end += len(self._before) + len(data)
        self._before, self.refuses = b"", ""
        return None

    def _cut(self) -> None:
        if os.fstat(self._file).st_size > self._end:
            os.ftruncate(self._file, self._end)

    def _complain(self, error: OSError) -> None:
        """Once, until it takes lines again."""
        why = f"{error.strerror}: no task is accepted until it can be written again"
        if not self.refuses:
            complain(f"{self._path}: {why}")
        self.refuses = f"{self._path}: {why}"


def _lines(path: str) -> Iterator[tuple[int, bytes]]:
    """All, and their numbers; but not a last one that a crash has torn."""
    if os.path.exists(path):
        with open(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                for each in _apart(line):
                    yield number, each


def _apart(line: bytes) -> Iterator[bytes]:
    """``line`` as it was written; several where a line break between them is damaged.
    The last is what fits no checksum; that of a torn end is left out."""
    if line == seal(line[: -len("\t12345678\n")]):
        yield line
        return
    begin = at = crc = 0
    for found in _SEAL.finditer(line):
        crc, at = zlib.crc32(line[at : found.start()], crc), found.start()
        if crc == int(found[1], 16):
            yield line[begin : found.end()] + b"\n"
            begin = at = found.end() + 1
            crc = 0
    if line.endswith(b"\n") and line[begin:-1]:
        yield line[begin:]


def _tasks(entry: dict[str, Any]) -> Iterator[Task]:
    first = int(entry["first"])
    origin = Origin(int(entry["uid"]), entry["at"] + 0.0, int(entry.get("of", first)))
    for number, spec in enumerate(entry["request"]["tasks"], start=first):
        yield Task(number, origin, spec)


def _spec(task: Task) -> dict[str, Any]:
    spec: dict[str, Any] = {"kind": task.kind, "source": task.source}
    if task.dest:
        spec["dest"] = task.dest
    for key, value, plain in zip(Terms._fields, task.terms, PLAIN):
        if value != plain:
            spec[key] = value
    for key in ("size", "digest"):
        if getattr(task, key):
            spec[key] = getattr(task, key)
    return spec
