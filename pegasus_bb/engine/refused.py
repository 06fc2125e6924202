"""The system gives no room or no handle: said in one message, not as a bug of ours."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pegasus_bb.errors import RunFailed

# What an administrator, a quota or `ulimit` answers; any other OSError is a bug.
_SYSTEM = {
    errno.EDQUOT: "free some space",
    errno.EFBIG: "raise the limit of file sizes (ulimit -f)",
    errno.EIO: "look after the file system",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
    errno.ENFILE: "let others close files",
    errno.ENOSPC: "free some space",
    errno.EROFS: "make it writable",
    errno.ESTALE: "look after the file system",
}


@contextmanager
def told(submit_dir: Path) -> Iterator[None]:
    """Raises RunFailed in place of an OSError that is the system's to mend."""
    try:
        yield
    except OSError as error:
        would_do = _SYSTEM.get(error.errno or 0)
        if would_do is None:
            raise
        raise RunFailed(
            f"{error.filename or submit_dir}: {error.strerror}; the run could not go "
            f"on, and what it had started was stopped. {would_do.capitalize()}, then: "
            f"pegasus-bb run {submit_dir}"
        ) from error
