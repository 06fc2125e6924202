"""Names that some file systems take for one: README and readme, two forms of an accent.

Which names they are cannot be asked, and inodes do not always tell. So names that may
be one are noted, and the entries of their folder are counted when all is copied: where
there are fewer entries than names, two are one file there.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from pegasus_bb.runtime.staging.failures import CopyFailed, on_a_line


def folded(name: str) -> str:
    """The same text for all names that a file system may take for ``name``: another
    case, another form or loss of accents, dots and blanks at the end."""
    if not name.isascii():
        import unicodedata  # most names need none of it

        parts = unicodedata.normalize("NFKD", name.casefold())
        name = "".join(c for c in parts if not unicodedata.combining(c))
    return name.lower().rstrip(". ")


def folded_path(path: str) -> str:
    """``path`` with its last name ``folded``."""
    folder, name = os.path.split(path)
    return os.path.join(folder, folded(name))


class Lookalikes:
    """The names of one folder; some 60 bytes of memory each."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._twice: set[int] = set()

    def add(self, name: str) -> None:
        key = hash(_cut(name))
        (self._twice if key in self._seen else self._seen).add(key)

    def among(self, folder: int) -> list[str]:
        """Those names in the open ``folder`` that look like another one."""
        if not self._twice:
            return []
        return [each for each in os.listdir(folder) if hash(_cut(each)) in self._twice]


def _cut(name: str) -> str:
    """``name`` folded, and as short as some make it."""
    return folded(name)[:60]


def one_there(names: Iterable[str], folder: int) -> Iterator[tuple[str, str]]:
    """Pairs of ``names`` that are one file in the open ``folder``."""
    entries = set(os.listdir(folder))
    count = Counter(map(_cut, entries))
    arrived: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        if _is_there(name, folder):
            arrived[_cut(name)].append(name)
    for key, alike in arrived.items():
        alike.sort(key=entries.__contains__)  # those that are listed come last
        for name in alike[: len(alike) - count[key]]:
            yield alike[-1], name


def _is_there(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return True


class Made:
    """The files that a process has made, to notice that one would replace another."""

    def __init__(self) -> None:
        self._paths: defaultdict[str, set[str]] = defaultdict(set)  # by folded path

    def add(self, path: str) -> None:
        self._paths[folded_path(path)].add(path)

    def check(self, path: str) -> None:
        """Raises CopyFailed if ``path`` is a file that was made by another name."""
        others = self._paths.get(folded_path(path), set()) - {path}
        others = set(filter(os.path.lexists, others))
        if not (others and os.path.lexists(path)):
            return
        folder, name = os.path.split(path)
        try:
            names = os.listdir(folder)
        except OSError:  # a folder that this user may write but not list
            return
        if sum(folded(each) == folded(name) for each in names) <= len(others):
            raise one_name(path, min(others))


def one_name(path: str, other: str) -> CopyFailed:
    """The error for a destination that is ``other``, which was written before it."""
    return CopyFailed(
        f"{on_a_line(path)}: is one file there with {on_a_line(other)}, so one of the "
        "two is lost: that file system takes both names for one (upper and lower case, "
        "accents, dots at the end, a long name); rename one at the source, or copy to "
        "another file system"
    )
