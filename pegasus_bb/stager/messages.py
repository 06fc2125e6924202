"""What the service says to its administrator, on stderr."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from pegasus_bb.core.errors import UsageError


def message_of(error: BaseException) -> str:
    """Return ``error`` in words; of an OSError, the path, if it has one, and why."""
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}"
    return str(error)


def complain(message: str) -> None:
    """Write a line to stderr; where that is a file on a full disk, none. A path in it
    may have any character."""
    line = "".join(each if each.isprintable() else "?" for each in message)
    with contextlib.suppress(OSError):
        print(f"stager: {line}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def as_usage_errors(mend: str = "") -> Iterator[None]:
    """Turn what is wrong with a file or a folder into a sentence."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise UsageError(f"{message_of(error)}{mend}") from error
