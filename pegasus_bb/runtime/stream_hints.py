"""Creates outputs before their task, so that they can have write hints.

A task may omit an output, and its empty file must not look like a result. So each file
gets an impossible time, and one that still has it after the task was never written.
"""

from __future__ import annotations

import os

from pegasus_bb.core.files import make_folder_of
from pegasus_bb.core.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_NEVER = 0  # ns since the epoch; opening the file with O_TRUNC changes its time


def run_with_hints(hinted: Mapping[str, int] | None, run: Callable[[], int]) -> int:
    """Call ``run`` after creating the files of ``hinted`` (path -> hint). Errors are
    ignored: the task then creates the file itself, without a hint."""
    if not hinted:
        return run()
    for path, hint in hinted.items():
        try:
            _make(path, hint)
        except OSError:
            pass
    try:
        return run()
    finally:
        for path in hinted:
            try:
                _remove_unwritten(path)
            except OSError:
                pass


def _make(path: str, hint: int) -> None:
    """Create ``path``, unless an earlier try of the task has left it."""
    if os.path.exists(path):
        return
    from pegasus_bb.runtime.staging.hints import set_hint  # most jobs have none

    make_folder_of(path)
    # Without O_EXCL, so that a link into a pool is followed.
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        set_hint(handle, hint)
        os.utime(handle, ns=(_NEVER, _NEVER))
    except OSError:
        os.unlink(os.path.realpath(path))  # it would look like an empty result
        raise
    finally:
        os.close(handle)


def _remove_unwritten(path: str) -> None:
    status = os.stat(path)
    if (status.st_size, status.st_mtime_ns) == (0, _NEVER):
        os.unlink(os.path.realpath(path))
