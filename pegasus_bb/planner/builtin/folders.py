"""Folders full of small files, written by two processes that share them as they can."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Set
from pathlib import Path
from typing import TypeAlias

from pegasus_bb.beside import Beside
from pegasus_bb.planner.builtin.fill import File, fill

# path below the root -> its files, by their paths below the root; asked for once or
# twice, by either process
Folders: TypeAlias = Mapping[str, Callable[[], Iterable[File]]]


def fill_folders(
    root: Path, folders: Folders, worth: bool, meanwhile: Callable[[], None]
) -> None:
    """Write all of ``folders``; ``meanwhile`` is what one process does first.

    Where that is not ``worth`` a second process, this one does all. Raises what writing
    raises; files may be there then.
    """
    for folder in folders:
        (root / folder).parent.mkdir(parents=True, exist_ok=True)
    backwards = dict(reversed(list(folders.items())))
    with Beside(lambda: _fill_free(root, folders), worth) as other:
        meanwhile()
        here = _fill_free(root, backwards)
        _fill_again(root, folders, {*here, *other.finish()})


def _fill_free(root: Path, folders: Folders) -> list[str]:
    """Fill those that nobody has begun: who makes a folder fills it."""
    filled = []
    for folder, files in folders.items():
        try:
            (root / folder).mkdir()
        except FileExistsError:
            continue
        fill(root, files())
        filled.append(folder)
    return filled


def _fill_again(root: Path, folders: Folders, filled: Set[str]) -> None:
    """What a second process had begun when it came to grief."""
    for folder in folders.keys() - filled:
        shutil.rmtree(root / folder)
        fill(root, folders[folder]())
