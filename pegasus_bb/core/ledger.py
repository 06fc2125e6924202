"""Every reservation that this user ever requested, and how it ended.

An append-only journal in the user's state folder. It lists a reservation before it
exists, so that none is ever held without being on the list, not even after kill -9.
"""

from __future__ import annotations

import math
import os
import sys
import time

from pegasus_bb.core.files import append_json, read_journal
from pegasus_bb.core.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

_WARNED: set[str] = set()  # warnings that this process has printed
# released; released without saving its data; never created
ENDS = ("released", "discarded", "refused")


class LedgerReservation(NamedTuple):
    """A reservation that a run requested, merged from all its lines."""

    name: str
    uuid: str  # of the run
    backend: str
    size: int  # bytes
    submit_dir: str = ""
    # Lines of older runs lack the next three.
    host: str = ""  # where bb_setup ran
    label: str = ""  # of the workflow
    request: dict[str, Any] | None = None  # model.reservation.Request, as planned
    time: float = 0.0  # of the latest request
    end: str = ""  # how it ended, one of ENDS; empty: no line says so
    ended_at: float = 0.0


class KeptSpace(NamedTuple):
    """The space of a job whose stage-out has failed, which Slurm keeps."""

    job: str  # Slurm's number
    node: str
    scratch: str  # the run's scratch, where the results belong
    uuid: str  # of the run
    submit_dir: str
    label: str


def path() -> str:
    """Where the ledger is: PEGASUS_BB_LEDGER, else in the user's state folder."""
    given = os.environ.get("PEGASUS_BB_LEDGER")
    if given:
        return os.path.abspath(given)
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return os.path.join(state, "pegasus-bb", "ledger.jsonl")


def note(event: str, **fields: Any) -> None:
    """Add a line. A ledger that cannot be written warns; it stops no run."""
    try:
        os.makedirs(os.path.dirname(path()), mode=0o700, exist_ok=True)
        append_json(path(), {"time": time.time(), "event": event, **fields})
    except OSError as error:
        print(
            f"warning: {path()}: cannot be written ({error.strerror}); {event} "
            f"{fields.get('name', '')} is not on the list of your reservations",
            file=sys.stderr,
        )


def entries() -> list[dict[str, Any]]:
    """Every line, oldest first; none if there is no ledger or it is unreadable.

    A command asks about each of its reservations: the file is read once, and again
    only when it has changed.
    """
    return _lines().all


class _Lines:
    def __init__(self, state: tuple[object, ...], lines: list[dict[str, Any]]) -> None:
        self.state = state
        self.all = lines
        self.by_name: dict[str, list[dict[str, Any]]] = {}
        for line in reversed(lines):
            self.by_name.setdefault(str(line.get("name")), []).append(line)


_known = _Lines((), [])


def _lines() -> _Lines:
    global _known
    state = _state_of(path())
    if _known.state != state:
        _known = _Lines(state, _read())
    return _known


def _state_of(file: str) -> tuple[object, ...]:
    try:
        found = os.stat(file)
    except OSError as error:
        return file, error.errno
    return file, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _read() -> list[dict[str, Any]]:
    damaged: list[int] = []
    try:
        lines = list(read_journal(path(), damaged.append))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        _warn(f"cannot be read ({reason}): what is on it is not listed")
        return []
    if damaged:
        which = f"line {damaged[0]}" if len(damaged) == 1 else f"{len(damaged)} lines"
        _warn(
            f"{which} cannot be read, so a reservation may be missing from this list; "
            "`pegasus-bb status` of its submit directory shows it. Remove what cannot "
            "be read to be told no more"
        )
    return lines


def _warn(message: str) -> None:
    """Print each warning once: a command reads the ledger several times."""
    line = f"warning: {path()}: {message}"
    if line not in _WARNED:
        _WARNED.add(line)
        print(line, file=sys.stderr)


def find(name: str) -> list[dict[str, Any]]:
    """The lines of the reservation of that name, newest first."""
    return _lines().by_name.get(name, [])


def reservations() -> list[LedgerReservation]:
    """Every reservation of every run, in the order of the requests. Linear."""
    lines: dict[tuple[str, str], tuple[dict[str, Any], dict[str, Any]]] = {}
    for entry in entries():
        key = (str(entry.get("name", "")), str(entry.get("uuid", "")))
        event = entry.get("event")
        if event == "requested":
            lines[key] = (entry, {})
        elif event in ENDS and key in lines:
            lines[key] = (lines[key][0], entry)
    return [_reservation(key, *lines[key]) for key in lines]


def _reservation(
    key: tuple[str, str], entry: dict[str, Any], ended: dict[str, Any]
) -> LedgerReservation:
    request = entry.get("request")
    return LedgerReservation(
        name=key[0],
        uuid=key[1],
        backend=str(entry.get("backend", "")),
        size=int(number(entry.get("size"))),
        submit_dir=str(entry.get("submit_dir", "")),
        host=str(entry.get("host", "")),
        label=str(entry.get("label", "")),
        request=request if isinstance(request, dict) else None,
        time=number(entry.get("time")),
        end=str(ended.get("event", "")),
        ended_at=number(ended.get("time")),
    )


def kept_spaces() -> dict[str, KeptSpace]:
    """Job number -> its space. The newest wins: Slurm may reuse a number."""
    fields = KeptSpace._fields
    lines = (entry for entry in entries() if entry.get("event") == "kept")
    spaces = [KeptSpace(*(str(line.get(key, "")) for key in fields)) for line in lines]
    return {space.job: space for space in spaces}


def number(value: Any) -> float:
    """``value`` as a finite float, else 0: a user may have edited the line."""
    try:
        result = float(value) if isinstance(value, (int, float)) else 0.0
    except OverflowError:  # an integer above the range of a float
        return 0.0
    return result if math.isfinite(result) else 0.0
