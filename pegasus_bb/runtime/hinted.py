"""Outputs that are there before their task, empty: only so can they carry a hint.

A task may leave out an output, and an empty file must not look like a result. So each
gets a time that no clock shows; what still has it afterwards was never written.
"""

from __future__ import annotations

import os
from typing import Callable, Mapping, Optional

_NEVER = 0  # ns since the epoch; to open a file for writing it anew changes its time


def run_hinted(hinted: Optional[Mapping[str, int]], run: Callable[[], int]) -> int:
    """``run()``, with the files of ``hinted`` (path -> hint) made before it. An error
    of theirs is none of the task's: it makes its files itself, without a hint."""
    if not hinted:
        return run()
    for path, hint in hinted.items():
        _try(lambda: _make(path, hint))  # noqa: B023 - called at once
    try:
        return run()
    finally:
        for path in hinted:
            _try(lambda: _remove_unwritten(path))  # noqa: B023 - called at once


def _make(path: str, hint: int) -> None:
    """Not in the place of a file that an earlier try of the task has left."""
    if os.path.exists(path):
        return
    from pegasus_bb.staging.hints import set_hint  # most jobs have none

    os.makedirs(os.path.dirname(path), exist_ok=True)
    # Through a link, into its pool; O_EXCL would refuse that.
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        set_hint(handle, hint)
        os.utime(handle, ns=(_NEVER, _NEVER))
    finally:
        os.close(handle)


def _remove_unwritten(path: str) -> None:
    found = os.stat(path)
    if (found.st_size, found.st_mtime_ns) == (0, _NEVER):
        os.unlink(os.path.realpath(path))


def _try(work: Callable[[], None]) -> None:
    try:
        work()
    except OSError:
        pass
