"""A folder and all in it, as items for the mover: streamed, whatever its size.

What becomes of each kind of thing is said in docs/staging.md. Folders are made and
links are put while the walk goes on; files are left to the mover.
"""

from __future__ import annotations

import os
import stat
from typing import Callable, Iterator, List, Optional, Sequence, Set, Tuple

from pegasus_bb.staging.durable import sync_file_system
from pegasus_bb.staging.failures import CopyFailed, explained, not_a_file, on_a_line
from pegasus_bb.staging.hard_links import HardLink, HardLinks
from pegasus_bb.staging.items import Folder, Item, item_of, stamp
from pegasus_bb.staging.parts import part_of, remove_parts

_NEAR = 8  # folders that are kept open while folders in them wait
Fail = Callable[[CopyFailed], None]
Linked = Callable[[str, List[int], List[int]], None]
Wanted = Callable[[str, os.stat_result], bool]  # path below the top, what is there


def all_of_it(path: str, found: os.stat_result) -> bool:
    """The default of `wanted`."""
    return True


class Inner:
    __slots__ = ("dest", "names", "path", "source")

    def __init__(self, source: Folder, dest: Folder, path: str) -> None:
        """``path``: of that folder, below the top ones."""
        self.source: Optional[Folder] = source
        self.dest: Optional[Folder] = dest
        self.path = path
        self.names: List[str] = []


class Tree:
    """Walks ``source`` once; makes its folders and links below ``dest``."""

    def __init__(
        self,
        source: Folder,
        dest: Folder,
        tag: str,
        fail: Fail,
        earlier: Sequence[str] = (),
        wanted: Wanted = all_of_it,
    ) -> None:
        """``fail`` hears of what cannot be copied; the walk goes on. ``earlier``: the
        tags of tries that did not end, whose temporary links and names are removed.
        What is not ``wanted`` is passed over; of folders it is not asked."""
        self._tag, self._fail, self._earlier = tag, fail, earlier
        self._wanted = wanted
        self._waiting: List[Inner] = []
        self._top = source, dest
        self._modes: List[Tuple[str, int]] = []  # of folders without write permission
        self._names = HardLinks()
        self._failed: Set[str] = set()  # files whose further names must wait
        self._devices = {dest.device: dest}
        self.folders = self.links = 0  # made or found

    def items(self) -> Iterator[Item]:
        """Every regular file below the source, once however many names it has."""
        yield from self._folder(*self._top)
        while self._waiting:
            left = self._waiting[-1]
            path = "/".join(filter(None, (left.path, left.names[-1])))
            try:
                found, inner = self._entered(left, left.names.pop())
            except CopyFailed as failure:
                self._fail(failure)
                continue
            except OSError as error:
                source, dest = self._top
                self._fail(explained(error, source.at(path), dest.at(path)))
                continue
            finally:
                if not left.names:
                    self._waiting.pop()
            yield from self._folder(found, inner)

    def failed(self, item: Item) -> None:
        """``item`` did not land: what has its name is not the file."""
        if item.mark.st_nlink > 1:
            self._failed.add(self._below(item.dest_path))

    def finish(self, linked: Linked) -> None:
        """After the items have landed: further names of files, modes of folders.

        ``linked`` hears of each file that got a name: its path below the copy, and its
        stamps before and after, since a new name is a change of the file.
        """
        for each in self._names.further:
            if each.first in self._failed:
                self._fail(self._without_first(each))
                continue
            try:
                self._put_name(each, linked)
            except OSError as error:
                top = self._top[1]
                self._fail(explained(error, top.at(each.first), top.at(each.name)))
        for path, mode in reversed(self._modes):
            try:
                folder = _reached(self._top[1], path)  # open as long as it has a name
                set_mode(folder.fd, mode)
            except OSError as error:
                source, dest = self._top
                self._fail(explained(error, source.at(path), dest.at(path)))

    def sync(self) -> None:
        """Make folders and links durable, whatever is mounted there. Raises OSError."""
        for folder in self._devices.values():
            sync_file_system(folder.fd)

    def _without_first(self, each: HardLink) -> CopyFailed:
        first, name = (on_a_line(self._top[1].at(path)) for path in each)
        return CopyFailed(
            f"{name}: is to be another name of {first}, which did not arrive; run it "
            "again once that is mended"
        )

    def _entered(self, left: Inner, name: str) -> Tuple[Folder, Folder]:
        """The folder ``name`` that waits there, and the one that is to be like it.

        Raises OSError, CopyFailed where a mount shows one of the top folders there: the
        copy would go on in itself without end.
        """
        source, dest = self._top
        left.source = left.source or _reached(source, left.path)
        left.dest = left.dest or _reached(dest, left.path)
        found = left.source.enter(name)
        if found.is_same(dest):
            raise _in_itself(found, "DEST")
        inner = self._made(found, left.dest, name)
        if inner.is_same(source):
            raise _in_itself(inner, "SOURCE")
        return found, inner

    def _folder(self, source: Folder, dest: Folder) -> Iterator[Item]:
        left = Inner(source, dest, self._below(dest.path))
        try:
            with os.scandir(source.fd) as entries:
                for entry in entries:
                    yield from self._entry(source, entry, dest, left.names)
        except OSError as error:
            self._fail(explained(error, source.path, dest.path))
        if left.names:
            self._waiting.append(left)
        if len(self._waiting) > _NEAR:  # those that come last are opened again
            far = self._waiting[-_NEAR - 1]
            far.source = far.dest = None

    def _entry(
        self,
        source: Folder,
        entry: os.DirEntry[str],
        dest: Folder,
        folders: List[str],
    ) -> Iterator[Item]:
        name = entry.name
        try:
            if entry.is_dir(follow_symlinks=False):
                folders.append(name)
            elif not self._is_wanted(entry, dest):
                return
            elif entry.is_symlink():
                self._put_link(source, name, dest)
            elif entry.is_file():
                yield from self._file(source, entry, dest)
            else:
                self._fail(not_a_file(source.at(name)))
        except OSError as error:
            self._fail(explained(error, source.at(name), dest.at(name)))

    def _is_wanted(self, entry: os.DirEntry[str], dest: Folder) -> bool:
        if self._wanted is all_of_it:
            return True
        found = entry.stat(follow_symlinks=False)
        return self._wanted(self._below(dest.at(entry.name)), found)

    def _file(
        self, source: Folder, entry: os.DirEntry[str], dest: Folder
    ) -> Iterator[Item]:
        found = entry.stat(follow_symlinks=False)
        if found.st_nlink > 1:
            path = self._below(dest.at(entry.name))
            if self._names.is_further(found, path):
                return
        yield item_of(source, entry.name, dest, entry.name, found, found)

    def _made(self, source: Folder, dest: Folder, name: str) -> Folder:
        mode = stat.S_IMODE(os.fstat(source.fd).st_mode) & 0o777
        try:
            os.mkdir(name, mode | 0o700, dir_fd=dest.fd)
        except FileExistsError:
            pass  # a link or a file of that name is refused below
        made = dest.enter(name)
        if mode & 0o700 != 0o700:
            self._modes.append((self._below(made.path), mode))
        set_mode(made.fd, mode | 0o700)
        self._devices.setdefault(made.device, made)
        self.folders += 1
        return made

    def _put_link(self, source: Folder, name: str, dest: Folder) -> None:
        self.links += 1
        target = os.readlink(name, dir_fd=source.fd)
        if _link(dest, name) == target:
            return
        remove_parts(dest.fd, name, self._earlier)
        part = part_of(name, self._tag)
        os.symlink(target, part, dir_fd=dest.fd)
        self._named(part, dest, name)

    def _put_name(self, each: HardLink, linked: Linked) -> None:
        top = self._top[1]
        first, dest = (_reached(top, os.path.dirname(path)) for path in each)
        known, name = (os.path.basename(path) for path in each)
        remove_parts(dest.fd, name, self._earlier)
        before = os.stat(known, dir_fd=first.fd, follow_symlinks=False)
        if _is_named(before, dest, name):
            return
        part = part_of(name, self._tag)
        os.link(
            known, part, src_dir_fd=first.fd, dst_dir_fd=dest.fd, follow_symlinks=False
        )
        self._named(part, dest, name)
        after = os.stat(known, dir_fd=first.fd, follow_symlinks=False)
        linked(each.first, stamp(before), stamp(after))

    def _below(self, path: str) -> str:
        return path[len(self._top[1].path.rstrip("/")) + 1 :]

    def _named(self, part: str, dest: Folder, name: str) -> None:
        try:
            os.rename(part, name, src_dir_fd=dest.fd, dst_dir_fd=dest.fd)
        except OSError:
            os.unlink(part, dir_fd=dest.fd)
            raise


def _reached(top: Folder, path: str) -> Folder:
    folder = top
    for name in path.split("/") if path else ():
        folder = folder.enter(name)
    return folder


def _in_itself(folder: Folder, what: str) -> CopyFailed:
    return CopyFailed(
        f"{on_a_line(folder.path)}: is {what} itself, through another mount, so it was "
        "left out; name places of which none lies in the other"
    )


def set_mode(folder: int, mode: int) -> None:
    """Give an open folder these of 0777, unless another user owns it. What else it has
    stays: set-gid and sticky are how a group shares it. Raises OSError."""
    found = os.fstat(folder)
    now = stat.S_IMODE(found.st_mode)
    if now & 0o777 != mode and os.geteuid() in (0, found.st_uid):
        os.fchmod(folder, now & 0o7000 | mode)


def _is_named(found: os.stat_result, folder: Folder, name: str) -> bool:
    """Whether ``name`` of ``folder`` is that file already: a rename of one of its names
    onto another does nothing, and would leave the first."""
    try:
        there = os.stat(name, dir_fd=folder.fd, follow_symlinks=False)
    except OSError:
        return False
    return os.path.samestat(found, there)


def _link(folder: Folder, name: str) -> str:
    try:
        return os.readlink(name, dir_fd=folder.fd)
    except OSError:
        return ""
