"""A whole folder as one task: copied by a journal, and moved only when all is there."""

from __future__ import annotations

import os
from typing import Callable

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.paths import is_below
from pegasus_bb.runtime.staging.digests import SHA256
from pegasus_bb.runtime.staging.failures import CopyFailed
from pegasus_bb.runtime.staging.hints import NO_HINT
from pegasus_bb.runtime.staging.items import Folder
from pegasus_bb.runtime.staging.stage_journal import StageJournal
from pegasus_bb.runtime.staging.stage_tree import Stage
from pegasus_bb.stager.emptying import Emptying

_SHOWN = 3  # failures in a message; the rest is counted


def copy_tree(
    source: Folder,
    dest: Folder,
    journal_path: str,
    tell: Callable[[int], None],
    hint: int = NO_HINT,
) -> int:
    """Copy what is not there yet; the bytes of this try. ``hint``: of every file, as in
    hints.py. Raises CopyFailed, OSError."""
    _check_apart(source, dest)
    failures: list[str] = []
    journal = StageJournal(journal_path, source.path, dest.path)
    try:
        stage = Stage(
            source.path,
            dest.path,
            journal,
            SHA256,
            lambda failure: failures.append(str(failure)),
            folders=(source, dest),
            hint=hint,
        )
        stage.run(tell)
    finally:
        journal.close()
    if failures:
        more = len(failures) - _SHOWN
        rest = [f"and {more} more"] if more > 0 else []
        raise CopyFailed("; ".join([*failures[:_SHOWN], *rest]))
    return stage.bytes


def remove_copied(source: Folder, dest: Folder, journal_path: str) -> None:
    """Remove every file of ``source`` that the journal says is in ``dest`` as it is
    now. What came or changed since stays. Raises CopyFailed then."""
    journal = StageJournal(journal_path, source.path, dest.path)
    try:
        left = Emptying(journal).run(source, dest)
    finally:
        journal.close()
    if left:
        raise CopyFailed(
            f"{source.at(left)}: it came or changed after the copy, so it stays; all "
            "that was copied is whole"
        )


def _check_apart(source: Folder, dest: Folder) -> None:
    """Raises UsageError where one lies in the other."""
    real, copy = (os.readlink(f"/proc/self/fd/{f.fd}") for f in (source, dest))
    if source.is_same(dest) or is_below(real, copy) or is_below(copy, real):
        raise UsageError(f"{source.path} -> {dest.path}: one lies in the other")
