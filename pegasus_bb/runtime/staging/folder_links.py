"""Links in a folder that is copied: files with several names, and symbolic links.

A symbolic link to a target inside the folder is copied unchanged. One to a target
outside leads to the same target from the copy. If that target will be gone after the
run (its scratch, its reservation), the copy has its contents instead of a link.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence

from pegasus_bb.core.files import named_by_link
from pegasus_bb.core.light_typing import NamedTuple
from pegasus_bb.core.paths import is_below
from pegasus_bb.runtime.staging.failures import CopyFailed

_NOWHERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


class HardLink(NamedTuple):
    """A further name of a file. Both are paths below the copy, because open folders
    would be too many."""

    first: str
    name: str


class HardLinks:
    """The hard links of a tree, as the walk finds them; each takes up to 1 KB of
    memory."""

    def __init__(self) -> None:
        self.further: list[HardLink] = []  # in the order of the walk
        # file -> the number of names still to come, and the first one
        self._first: dict[tuple[int, ...], tuple[int, str]] = {}

    def is_further(self, status: os.stat_result, path: str) -> bool:
        """Note ``path``, and tell whether it is a further name of a known file. A new
        file with a reused inode number is not."""
        key = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
        known = self._first.pop(key, None)
        left, first = known or (status.st_nlink, path)
        if left > 1:
            self._first[key] = left - 1, first
        if known:
            self.further.append(HardLink(first, path))
        return known is not None


class CopiedLink(NamedTuple):
    """What replaces a link in the copy: a link to ``target``, or its contents."""

    target: str
    is_resolved: bool  # the contents


class Links:
    """The links of one copied folder, and of the folders that its links lead to."""

    def __init__(self, root: str, vanishing: Sequence[str]) -> None:
        """``vanishing``: folders that will be gone; if there are none, all links
        stay."""
        self._root = os.path.realpath(root)
        self._vanishing = [os.path.realpath(folder) for folder in vanishing]
        self._followed: tuple[str, ...] = ()  # folders of the links that led here

    def copied_link(self, path: str) -> CopiedLink:
        """What replaces the link ``path`` in the copy.

        Raises CopyFailed if it is broken, or leads to a folder that contains it.
        """
        text = os.readlink(path)
        real = os.path.realpath(path)
        if _is_broken(path):
            if not self._vanishing:
                return CopiedLink(text, False)
            raise CopyFailed(
                f"{path}: is a link that leads nowhere ({text}), so the result it is "
                "part of would not be whole; let the task remove it or make what it "
                "leads to. Where a clean-up took that away before, plan with --cleanup "
                "leaf"
            )
        if not os.path.isabs(text) and self._stays_inside(path, text, real):
            return CopiedLink(text, False)
        if not (self._vanishes(real) or self._vanishes(named_by_link(path, text))):
            return CopiedLink(text if os.path.isabs(text) else real, False)
        self._check_no_loop(path, real)
        return CopiedLink(real, True)

    def below(self, path: str, real: str) -> Links:
        """The links of folder ``real``, which is copied instead of link ``path``."""
        inner = Links(real, self._vanishing)
        inner._followed = (*self._followed, _folder_of(path))
        return inner

    def _stays_inside(self, path: str, text: str, real: str) -> bool:
        """Whether the link works unchanged in a copy of the folder at any place."""
        inside = os.path.relpath(_folder_of(path), self._root)
        lexical = os.path.normpath(os.path.join(inside, text))
        leaves = lexical == ".." or lexical.startswith("../")
        return not leaves and _contains(self._root, real)

    def _vanishes(self, path: str) -> bool:
        return any(_contains(folder, path) for folder in self._vanishing)

    def _check_no_loop(self, path: str, real: str) -> None:
        for folder in (*self._followed, _folder_of(path)):
            if _contains(real, folder):
                raise CopyFailed(
                    f"{path}: is a link to {real}, in which it lies itself; a copy of "
                    "that would have no end"
                )


def _folder_of(path: str) -> str:
    return os.path.realpath(os.path.dirname(path))


def _contains(folder: str, path: str) -> bool:
    return path == folder or is_below(path, folder)


def _is_broken(path: str) -> bool:
    try:
        os.stat(path)
    except OSError as error:  # without permission to look, it counts as existing
        return error.errno in _NOWHERE
    return False
