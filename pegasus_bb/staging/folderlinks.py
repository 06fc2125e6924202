"""What becomes of a link in a folder that is copied.

A link that stays inside the folder is copied as it is. One that leads out of it, to
what stays where it is, leads there from the copy as well. One that leads out of it to
what will be gone with the run (its scratch, its reservation) becomes a copy of that.
"""

from __future__ import annotations

import errno
import os
from typing import NamedTuple, Sequence, Tuple

from pegasus_bb.paths import is_below
from pegasus_bb.staging.failures import CopyFailed

_NOWHERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


class Fate(NamedTuple):
    """What stands in the copy for a link: a link to ``target``, or its content."""

    target: str
    is_copied: bool


class Links:
    """The links of one copied folder, and of the folders that its links lead to."""

    def __init__(self, root: str, vanishing: Sequence[str]) -> None:
        """``vanishing``: folders that will be gone; without any, all links are kept."""
        self._root = os.path.realpath(root)
        self._vanishing = [os.path.realpath(folder) for folder in vanishing]
        self._met_in: Tuple[str, ...] = ()  # folders of the links that led us here

    def fate(self, path: str) -> Fate:
        """What becomes of link ``path``.

        Raises CopyFailed where it leads nowhere, or to a folder that holds it.
        """
        text, real = os.readlink(path), os.path.realpath(path)
        if _leads_nowhere(path):
            if not self._vanishing:
                return Fate(text, False)
            raise CopyFailed(
                f"{path}: is a link that leads nowhere ({text}), so the result it is "
                "part of would not be whole; let the task remove it or make what it "
                "leads to. Where a clean-up took that away before, plan with --cleanup "
                "leaf"
            )
        if not os.path.isabs(text) and self._stays_inside(path, text, real):
            return Fate(text, False)
        if not any(_holds(folder, real) for folder in self._vanishing):
            return Fate(text if os.path.isabs(text) else real, False)
        self._refuse_loop(path, real)
        return Fate(real, True)

    def below(self, path: str, real: str) -> Links:
        """For the folder ``real``, which is copied in the place of link ``path``."""
        inner = Links(real, self._vanishing)
        inner._met_in = (*self._met_in, _folder_of(path))
        return inner

    def _stays_inside(self, path: str, text: str, real: str) -> bool:
        """Whether it leads to the same from a copy of the folder, wherever that is."""
        inside = os.path.relpath(_folder_of(path), self._root)
        lexical = os.path.normpath(os.path.join(inside, text))
        leaves = lexical == ".." or lexical.startswith("../")
        return not leaves and _holds(self._root, real)

    def _refuse_loop(self, path: str, real: str) -> None:
        for folder in (*self._met_in, _folder_of(path)):
            if _holds(real, folder):
                raise CopyFailed(
                    f"{path}: is a link to {real}, in which it lies itself; a copy of "
                    "that would have no end"
                )


def _folder_of(path: str) -> str:
    return os.path.realpath(os.path.dirname(path))


def _holds(folder: str, path: str) -> bool:
    return path == folder or is_below(path, folder)


def _leads_nowhere(path: str) -> bool:
    try:
        os.stat(path)
    except OSError as error:  # what we may not look at is there
        return error.errno in _NOWHERE
    return False
