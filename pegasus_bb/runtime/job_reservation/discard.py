"""The place of a job that has ended is taken away."""

from __future__ import annotations

import sys

from pegasus_bb.errors import PegasusBBError
from pegasus_bb.removal import remove


def discard(path: str) -> None:
    """Remove a job's place: what it had is safe, or lost. What is left there costs room
    and nothing else, so it is said and fails nobody."""
    try:
        remove(path)
    except (PegasusBBError, OSError) as error:
        print(f"launch: {path} was not removed: {error}", file=sys.stderr)
