"""Every reservation that this user ever asked for, and what became of it.

An append-only journal in the user's state folder. It lists a reservation before it
exists, so that none is ever held without being on the list, not even after kill -9.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any, Dict, List

from pegasus_bb.files import append_json, read_journal


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
    try:
        return list(read_journal(path()))
    except (OSError, ValueError) as error:
        print(f"warning: {path()}: cannot be read ({error})", file=sys.stderr)
        return []


def find(name: str) -> List[Dict[str, Any]]:
    """The lines of the reservation of that name, newest first."""
    return [entry for entry in reversed(entries()) if entry.get("name") == name]
