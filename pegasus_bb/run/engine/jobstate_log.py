"""jobstate.log: one line per event, in the format of Pegasus's monitord.

``<epoch> <node> <event> <status, job id or -> <site> <walltime> <sequence>``; the
sequence number counts attempts over all nodes. Lines are only ever added.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

# A line of INTERNAL is about the whole workflow.
_ENGINE = "INTERNAL"


class Event(NamedTuple):
    """One line of the log; ``detail`` is an exit status or a job id."""

    time: int
    node: str
    event: str
    detail: str
    sequence: int


class JobstateLog:
    """The log that the engine writes: whole lines, each written before the next process
    is started, so that kill -9 of the engine loses none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        end = os.lseek(self._handle, 0, os.SEEK_END)
        torn = end > 0 and os.pread(self._handle, 1, end - 1) != b"\n"
        self._lines: list[str] = ["\n"] if torn else []
        self._synced = time.monotonic()

    def note(
        self, node: str, event: str, detail: str, site: str, sequence: int
    ) -> None:
        """Add an event to the buffer; ``flush`` writes it."""
        now = int(time.time())
        self._lines.append(
            f"{now} {node} {event} {detail} {site or '-'} - {sequence}\n"
        )

    def engine(self, event: str) -> None:
        """Add a line about the engine itself, and make all lines durable."""
        self._lines.append(f"{int(time.time())} {_ENGINE} *** {event} ***\n")
        self.flush()
        os.fsync(self._handle)

    def flush(self) -> None:
        """Write the buffered events; call fsync at most once a second."""
        if not self._lines:
            return
        data = "".join(self._lines).encode(errors="surrogateescape")
        self._lines.clear()
        try:
            while data:
                data = data[os.write(self._handle, data) :]
        except OSError as error:  # the next call writes the rest, should there be space
            self._lines.insert(0, data.decode(errors="surrogateescape"))
            raise OSError(error.errno, error.strerror, str(self._path)) from error
        if time.monotonic() - self._synced > 1:
            os.fsync(self._handle)
            self._synced = time.monotonic()

    def close(self) -> None:
        try:
            self.flush()
        finally:
            os.close(self._handle)


@dataclass
class LoggedEvents:
    """The events of a log, and which of them follow the last regular end."""

    events: list[Event] = field(default_factory=list)  # of the whole log
    since: int = 0  # index of the first event after the last DAGMAN_FINISHED
    finished: int | None = None  # its exit status; None: the engine never ended
    crashed: bool = False  # the engine was started after that, and did not end
    sequence: int = 0  # the highest so far


def read_history(path: Path) -> LoggedEvents:
    history = LoggedEvents()
    before = 0
    for event in _events(path):
        if event.node != _ENGINE:
            history.events.append(event)
            history.sequence = max(history.sequence, event.sequence)
        elif event.event == "DAGMAN_STARTED":
            history.crashed = True
        elif event.event == "DAGMAN_FINISHED":
            history.crashed = False
            history.finished = _number(event.detail)
            before = history.since
            history.since = len(history.events)
        elif event.event == "RECOVERY_STARTED":
            history.since = before  # DAGMan was held, for example: that was no end
    return history


def _events(path: Path) -> Iterator[Event]:
    try:
        source = path.open(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return
    with source:
        for line in source:
            event = parse_event(line)
            if event is not None:
                yield event


def parse_event(line: str) -> Event | None:
    """The event on ``line``; None for a truncated or unknown line."""
    fields = line.split()
    if not line.endswith("\n") or len(fields) < 4 or not fields[0].isdigit():
        return None
    if fields[1] == _ENGINE:
        detail = fields[4] if len(fields) > 4 else ""
        return Event(int(fields[0]), _ENGINE, fields[3], detail, 0)
    if len(fields) != 7:
        return None
    return Event(int(fields[0]), fields[1], fields[2], fields[3], _number(fields[6]))


# DAGMan's own, in the place of an exit status (dag.h).
_NO_ENDINGS = {
    -1001: "could not be submitted",
    -1002: "was removed from HTCondor's queue",
    -1003: "is lost: HTCondor's log of it could not be read",
}


def ended(status: int) -> str:
    """How a job or a script came to its end."""
    if status in _NO_ENDINGS:
        return _NO_ENDINGS[status]
    ending = f"signal {-status}" if status < 0 else f"exit status {status}"
    return f"ended with {ending}"


def failure(event: str, detail: str) -> str:
    """What a failure in the journal means. ``detail`` is an exit status; where monitord
    writes of a POST script, it is the job's number."""
    who = {"JOB": "job", "PRE": "PRE script", "POST": "POST script"}
    whose = who.get(event.partition("_")[0], "job")
    if detail.lstrip("-").isdigit():
        return f"its {whose} {ended(int(detail))}"
    job = f" (job {detail})" if detail.strip("-") else ""
    if event.startswith("POST"):
        return f"its POST script found a failure in what its job left{job}"
    return f"its {whose} failed{job}"


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        return 0


def offset_of(path: Path, cluster: int) -> int:
    """Where the part of that DAGMan begins in the journal: all of it where it does not
    say."""
    started = f"DAGMAN_STARTED {cluster}.0 ".encode()
    offset = 0
    try:
        with path.open("rb") as source:
            for line in source:
                if started in line:
                    return offset
                offset += len(line)
    except FileNotFoundError:
        pass
    return 0


class Tail:
    """The journal at ``path`` from ``offset`` on; a line counts once it is whole."""

    def __init__(self, path: Path, offset: int = 0) -> None:
        self._path = path
        self._offset = offset

    def new(self) -> list[Event]:
        try:
            with self._path.open("rb") as source:
                if source.seek(0, 2) < self._offset:
                    self._offset = 0  # monitord begins a new one for a rescue run
                source.seek(self._offset)
                data = source.read()
        except FileNotFoundError:
            return []
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        lines = whole.decode(errors="surrogateescape").splitlines(keepends=True)
        return [event for line in lines if (event := parse_event(line)) is not None]
