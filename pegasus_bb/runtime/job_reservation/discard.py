"""Remove the folder of a job that has ended."""

from __future__ import annotations

import sys

from pegasus_bb.errors import PegasusBBError
from pegasus_bb.removal import remove


def discard(path: str) -> None:
    """Remove a job's folder, whose files are safe or lost. What cannot be removed costs
    space only, so it is reported and does not fail the job."""
    try:
        remove(path)
    except (PegasusBBError, OSError) as error:
        print(f"launch: {path} was not removed: {error}", file=sys.stderr)
