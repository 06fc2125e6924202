"""The submit directory while pegasus-plan writes it: exclusive to this process.

pegasus-plan writes the full path of the submit directory into every file, so it cannot
be made elsewhere and renamed. Planning claims the name first, by making the folder. If
anything fails, the new folder is removed, and a folder that was moved aside comes back.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pegasus_bb.core.errors import UsageError
from pegasus_bb.model.dag.nodes import Node, submit_text
from pegasus_bb.planner.existing_submit_dir import (
    check_existing,
    move_aside,
    not_written,
)

PRINTED = "pegasus-plan.out"  # its stdout, next to its inputs
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)


def planned_folder(submit_dir: Path) -> Path:
    return submit_dir / "bb" / "planned"


@contextmanager
def claim(folder: Path, *, force: bool, runs: Path) -> Iterator[Path]:
    """Make ``folder`` for the body to fill. pegasus-plan makes ``runs`` in any case.
    Raises UsageError if ``folder`` is taken, or if the file system is full."""
    check_existing(folder, force=force)
    foreign = [p for p in (runs, *runs.parents) if not p.exists()]
    is_folder = folder.is_dir() and not folder.is_symlink()
    is_empty = is_folder and not any(folder.iterdir())
    if is_empty:
        folder.rmdir()  # it is made again
    aside = move_aside(folder) if folder.exists() else None
    made: list[Path] = []
    try:
        _make(folder, made)
        yield folder
    except BaseException as error:
        if made:
            shutil.rmtree(folder, ignore_errors=True)
            for parent in (*foreign, *made[1:]):
                _remove_empty(parent)
        if aside is not None and not folder.exists():
            aside.rename(folder)
        if is_empty:
            folder.mkdir(exist_ok=True)
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            raise not_written(folder, error) from error
        raise


def change_submit_file(folder: Path, node: Node, change: Callable[[str], str]) -> None:
    """Put what ``change`` makes of the submit file of ``node`` in its place. Raises
    CatalogError."""
    text = submit_text(folder, node)
    changed = change(text)
    if changed != text:
        replace_text(node.file(folder), changed)


def replace_text(path: Path, text: str) -> None:
    """Put ``text`` under ``path`` by rename, with the mode that it had."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", errors="surrogateescape") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        shutil.copymode(path, part)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    part.replace(path)


def _make(folder: Path, made: list[Path]) -> None:
    """Make ``folder``, which must not exist; add it and its new parents to ``made``."""
    missing = [p for p in folder.parents if not p.exists()]
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir()
    except FileExistsError as error:
        if not folder.parent.is_dir():
            raise UsageError(
                f"--dir: {error.filename} is no folder, so {folder} cannot be made in "
                "it; name another"
            ) from error
        raise UsageError(f"{folder} was made by another process; plan again") from error
    except OSError as error:
        raise UsageError(f"{folder} cannot be made: {error.strerror}") from error
    made += [folder, *missing]


def _remove_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        pass  # pegasus-plan, or another process, has written there
