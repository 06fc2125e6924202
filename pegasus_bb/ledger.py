"""Every reservation that this user ever asked for, and what became of it.

An append-only journal in the user's state folder. It lists a reservation before it
exists, so that none is ever held without being on the list, not even after kill -9.
"""

from __future__ import annotations

import math
import os
import sys
import time
from typing import Any, Dict, List, NamedTuple, Optional, Set, Tuple

from pegasus_bb.files import append_json, read_journal

_SAID: Set[str] = set()  # warnings of this process
ENDS = ("released", "discarded", "refused")  # given back, with its data, or never made


class LedgerReservation(NamedTuple):
    """A reservation that a run asked for, of all its lines."""

    name: str
    uuid: str  # of the run
    backend: str
    size: int  # bytes
    submit_dir: str = ""
    host: str = ""  # where bb_setup ran; not in lines of older runs, as the next two
    label: str = ""  # of the workflow
    request: Optional[Dict[str, Any]] = None  # model.reservation.Request, as planned
    time: float = 0.0  # when it was asked for, the last time
    end: str = ""  # how it ended, one of ENDS; empty: no line says so
    ended_at: float = 0.0


class Kept(NamedTuple):
    """The space of a job whose stage-out has failed, which Slurm keeps."""

    job: str  # Slurm's number
    node: str
    scratch: str  # of the run, where the results should have come
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


def entries() -> List[Dict[str, Any]]:
    """Every line, oldest first; none where there is no ledger or it is unreadable."""
    lost: List[int] = []
    try:
        found = list(read_journal(path(), lost.append))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        _warn(f"cannot be read ({why}): what is on it is not listed")
        return []
    if lost:
        lines = f"line {lost[0]}" if len(lost) == 1 else f"{len(lost)} lines"
        _warn(
            f"{lines} cannot be read, so a reservation may be missing from this list; "
            "`pegasus-bb status` of its submit directory shows it. Remove what cannot "
            "be read to be told no more"
        )
    return found


def _warn(words: str) -> None:
    """Once for each: a command looks at its ledger several times."""
    line = f"warning: {path()}: {words}"
    if line not in _SAID:
        _SAID.add(line)
        print(line, file=sys.stderr)


def find(name: str) -> List[Dict[str, Any]]:
    """The lines of the reservation of that name, newest first."""
    return [entry for entry in reversed(entries()) if entry.get("name") == name]


def reservations() -> List[LedgerReservation]:
    """What was ever asked for, by run, in the order of asking; linear in the lines."""
    found: Dict[Tuple[str, str], Tuple[Dict[str, Any], Dict[str, Any]]] = {}
    for entry in entries():
        key = (str(entry.get("name", "")), str(entry.get("uuid", "")))
        event = entry.get("event")
        if event == "requested":
            found[key] = (entry, {})
        elif event in ENDS and key in found:
            found[key] = (found[key][0], entry)
    return [_reservation(key, *found[key]) for key in found]


def _reservation(
    key: Tuple[str, str], entry: Dict[str, Any], ended: Dict[str, Any]
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


def kept() -> Dict[str, Kept]:
    """By the number of the job; the newest of each, for Slurm counts anew some day."""
    lines = (entry for entry in entries() if entry.get("event") == "kept")
    found = [Kept(*(str(line.get(k, "")) for k in Kept._fields)) for line in lines]
    return {one.job: one for one in found}


def number(value: Any) -> float:
    """A line that was edited is no reason to list nothing."""
    try:
        found = float(value) if isinstance(value, (int, float)) else 0.0
    except OverflowError:  # four hundred digits
        return 0.0
    return found if math.isfinite(found) else 0.0
