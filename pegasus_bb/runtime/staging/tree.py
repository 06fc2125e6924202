"""Walks a folder and yields its files as items for the mover, lazily.

docs/staging.md says how each kind of entry is copied. The walk itself makes folders and
links; the mover copies files.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence

from pegasus_bb.core.refusals import HARD_LINK, SYMBOLIC_LINK, keep_mode, warn_refused
from pegasus_bb.runtime.staging.durable import sync_file_system
from pegasus_bb.runtime.staging.failures import (
    CopyFailed,
    explained,
    not_a_file,
    on_a_line,
)
from pegasus_bb.runtime.staging.folder_links import HardLink, HardLinks
from pegasus_bb.runtime.staging.items import Folder, Item, item_of, stamp
from pegasus_bb.runtime.staging.lookalikes import Lookalikes, one_name, one_there
from pegasus_bb.runtime.staging.parts import part_of, remove_parts

_NEAR = 8  # folders that stay open while their subfolders wait
Fail = Callable[[CopyFailed], None]
Linked = Callable[[str, list[int], list[int]], None]
Wanted = Callable[[str, os.stat_result], bool]  # path below the top, its stat


def all_of_it(path: str, found: os.stat_result) -> bool:
    """The default of `wanted`: every entry."""
    return True


class WaitingFolder:
    __slots__ = ("dest", "names", "path", "source")

    def __init__(self, source: Folder, dest: Folder, path: str) -> None:
        """``path`` of the folder, below the top ones."""
        self.source: Folder | None = source
        self.dest: Folder | None = dest
        self.path = path
        self.names: list[str] = []


class Tree:
    """Walks ``source`` once; makes its folders and links below ``dest``."""

    def __init__(
        self,
        source: Folder,
        dest: Folder,
        tag: str,
        *,
        fail: Fail,
        earlier: Sequence[str] = (),
        wanted: Wanted = all_of_it,
    ) -> None:
        """``fail`` is called for entries that cannot be copied, and the walk goes on.
        ``earlier``: the tags of unfinished tries, whose temporary names are removed.
        Entries that are not ``wanted`` are skipped; folders always count as wanted."""
        self._tag = tag
        self._fail = fail
        self._earlier = earlier
        self._wanted = wanted
        self._waiting: list[WaitingFolder] = []
        self._top = source, dest
        self._modes: list[tuple[str, int]] = []  # of folders without write permission
        self._names = HardLinks()
        self._alike: list[tuple[str, list[str]]] = []  # folder, names in it
        self._failed: set[str] = set()  # files whose further names must wait
        self._devices = {dest.device: dest}
        self.folders = self.links = 0  # made or found

    def items(self) -> Iterator[Item]:
        """Every regular file below the source; one with several names only once."""
        source, dest = self._top
        self._open_up(dest, mode_of(source))
        yield from self._folder(source, dest)
        while self._waiting:
            left = self._waiting[-1]
            path = "/".join(filter(None, (left.path, left.names[-1])))
            try:
                found, inner = self._enter(left, left.names.pop())
            except CopyFailed as failure:
                self._fail(failure)
                continue
            except OSError as error:
                self._fail_below(path, error)
                continue
            finally:
                if not left.names:
                    self._waiting.pop()
            yield from self._folder(found, inner)

    def failed(self, item: Item) -> None:
        """Note that ``item`` was not copied, so its further names cannot be made."""
        if item.mark.st_nlink > 1:
            self._failed.add(self._below(item.dest_path))

    @property
    def has_further_names(self) -> bool:
        return bool(self._names.further)

    def further_names(self, linked: Linked) -> Iterator[Item]:
        """Make further names of files, when all items are copied; yields those of which
        the file system refuses that, to be copied as files of their own.

        ``linked`` is called for each file that got a name, with its path below the copy
        and its stamps before and after: a new name changes the ctime.
        """
        for each in self._names.further:
            if each.first in self._failed:
                self._fail(self._without_first(each))
                continue
            try:
                yield from self._put_name(each, linked)
            except OSError as error:
                top = self._top[1]
                self._fail(explained(error, top.at(each.first), top.at(each.name)))

    def finish(self) -> None:
        """Look at names that may be one, and set the modes of folders to which nothing
        is written any more."""
        for path, names in self._alike:
            self._check_alike(path, names)
        for path, mode in reversed(self._modes):
            try:
                folder = _open_below(self._top[1], path)  # keeps the descriptor open
                keep_mode_of(folder, mode)
            except OSError as error:
                self._fail_below(path, error)

    def _fail_below(self, path: str, error: OSError) -> None:
        source, dest = self._top
        self._fail(explained(error, source.at(path), dest.at(path)))

    def _check_alike(self, path: str, names: list[str]) -> None:
        try:
            there = _open_below(self._top[1], path)
        except OSError:  # it did not arrive, and that is said already
            return
        for one, other in one_there(names, there.fd):
            self._fail(one_name(there.at(other), there.at(one)))

    def sync(self) -> None:
        """Make folders and links durable, on all mounted file systems. Raises
        OSError."""
        for folder in self._devices.values():
            sync_file_system(folder.fd)

    def _without_first(self, each: HardLink) -> CopyFailed:
        first, name = (on_a_line(self._top[1].at(path)) for path in each)
        return CopyFailed(
            f"{name}: is to be another name of {first}, which did not arrive; run it "
            "again once that is mended"
        )

    def _enter(self, left: WaitingFolder, name: str) -> tuple[Folder, Folder]:
        """The subfolder ``name`` of ``left``, and its copy, which is made.

        Raises OSError, and CopyFailed if a mount shows one of the top folders there:
        the copy would never end.
        """
        source, dest = self._top
        left.source = left.source or _open_below(source, left.path)
        left.dest = left.dest or _open_below(dest, left.path)
        found = left.source.enter(name)
        if found.is_same(dest):
            raise _loop_error(found, "DEST")
        inner = self._make_copy(found, left.dest, name)
        if inner.is_same(source):
            raise _loop_error(inner, "SOURCE")
        return found, inner

    def _folder(self, source: Folder, dest: Folder) -> Iterator[Item]:
        left = WaitingFolder(source, dest, self._below(dest.path))
        try:
            alike = Lookalikes()
            with os.scandir(source.fd) as entries:
                for entry in entries:
                    alike.add(entry.name)
                    item = self._entry(source, entry, dest, left.names)
                    if item is not None:
                        yield item
            names = alike.among(source.fd)
            if names:
                self._alike.append((left.path, names))
        except OSError as error:
            self._fail(explained(error, source.path, dest.path))
        if left.names:
            self._waiting.append(left)
        if len(self._waiting) > _NEAR:  # the others are reopened later
            far = self._waiting[-_NEAR - 1]
            far.source = far.dest = None

    def _entry(
        self,
        source: Folder,
        entry: os.DirEntry[str],
        dest: Folder,
        folders: list[str],
    ) -> Item | None:
        """What is to be copied of ``entry``, if it is a file; a folder is added to
        ``folders``, and a link is made."""
        name = entry.name
        try:
            if entry.is_dir(follow_symlinks=False):
                folders.append(name)
            elif not self._is_wanted(entry, dest):
                return None
            elif entry.is_symlink():
                return self._put_link(source, name, dest)
            elif entry.is_file():
                return self._file(source, entry, dest)
            else:
                self._fail(not_a_file(source.at(name)))
        except OSError as error:
            self._fail(explained(error, source.at(name), dest.at(name)))
        return None

    def _is_wanted(self, entry: os.DirEntry[str], dest: Folder) -> bool:
        if self._wanted is all_of_it:
            return True
        found = entry.stat(follow_symlinks=False)
        return self._wanted(self._below(dest.at(entry.name)), found)

    def _file(
        self, source: Folder, entry: os.DirEntry[str], dest: Folder
    ) -> Item | None:
        found = entry.stat(follow_symlinks=False)
        if found.st_nlink > 1:
            path = self._below(dest.at(entry.name))
            if self._names.is_further(found, path):
                return None
        return item_of(
            source, entry.name, dest, as_name=entry.name, status=found, mark=found
        )

    def _make_copy(self, source: Folder, dest: Folder, name: str) -> Folder:
        made = dest.make(name, mode_of(source) | 0o700)
        self._open_up(made, mode_of(source))
        self._devices.setdefault(made.device, made)
        self.folders += 1
        return made

    def _open_up(self, folder: Folder, mode: int) -> None:
        """Let this user write to ``folder`` of the copy until all is there. In the end
        a new one has ``mode``, and one that was there has its own."""
        now = mode_of(folder)
        if not folder.is_new and not (self._earlier and now == mode | 0o700):
            mode = now  # else a killed try has made it
        if mode & 0o700 != 0o700:
            self._modes.append((self._below(folder.path), mode))
        keep_mode_of(folder, mode | 0o700)

    def _put_link(self, source: Folder, name: str, dest: Folder) -> Item | None:
        """The file that the link leads to, where the file system refuses links."""
        target = os.readlink(name, dir_fd=source.fd)
        if _link(dest, name) != target:
            remove_parts(dest.fd, name, self._earlier)
            part = part_of(name, self._tag)
            try:
                os.symlink(target, part, dir_fd=dest.fd)
            except OSError as error:
                return _file_of_link(source, name, dest, error)
            self._named(part, dest, name)
        self.links += 1
        return None

    def _put_name(self, each: HardLink, linked: Linked) -> Iterator[Item]:
        top = self._top[1]
        first, dest = (_open_below(top, os.path.dirname(path)) for path in each)
        known, name = (os.path.basename(path) for path in each)
        remove_parts(dest.fd, name, self._earlier)
        before = first.lstat(known)
        if _is_named(before, dest, name):
            return
        part = part_of(name, self._tag)
        sides = {"src_dir_fd": first.fd, "dst_dir_fd": dest.fd}
        try:
            os.link(known, part, **sides, follow_symlinks=False)
        except OSError as error:
            warn_refused(HARD_LINK, dest.at(name), error)
            source = _open_below(self._top[0], os.path.dirname(each.name))
            found = source.lstat(name)
            yield item_of(source, name, dest, as_name=name, status=found, mark=found)
            return
        self._named(part, dest, name)
        after = first.lstat(known)
        linked(each.first, stamp(before), stamp(after))

    def _below(self, path: str) -> str:
        return path[len(self._top[1].path.rstrip("/")) + 1 :]

    def _named(self, part: str, dest: Folder, name: str) -> None:
        try:
            os.rename(part, name, src_dir_fd=dest.fd, dst_dir_fd=dest.fd)
        except OSError:
            dest.unlink(part)
            raise


def _open_below(top: Folder, path: str) -> Folder:
    folder = top
    for name in path.split("/") if path else ():
        folder = folder.enter(name)
    return folder


def _file_of_link(source: Folder, name: str, dest: Folder, error: OSError) -> Item:
    """The file that link ``name`` leads to, to be copied in the place of the link that
    was refused by ``error``. Raises ``error`` where it leads to no file."""
    path = os.path.realpath(f"/proc/self/fd/{source.fd}/{name}")
    try:
        found = os.stat(path)
    except OSError:
        raise error from None
    if not stat.S_ISREG(found.st_mode):
        raise error
    warn_refused(SYMBOLIC_LINK, dest.at(name), error)
    folder = Folder.open(os.path.dirname(path))
    return item_of(
        folder, os.path.basename(path), dest, as_name=name, status=found, mark=found
    )


def _loop_error(folder: Folder, what: str) -> CopyFailed:
    return CopyFailed(
        f"{on_a_line(folder.path)}: is {what} itself, through another mount, so it was "
        "left out; name places of which none lies in the other"
    )


def mode_of(folder: Folder) -> int:
    """Its mode bits 0777."""
    return stat.S_IMODE(os.fstat(folder.fd).st_mode) & 0o777


def keep_mode_of(folder: Folder, mode: int) -> None:
    """Set the mode bits 0777 of ``folder``, unless another user owns it. The other bits
    stay: groups share folders by set-gid and sticky."""
    if os.geteuid() in (0, os.fstat(folder.fd).st_uid):
        keep_mode(folder.fd, mode, folder.path)


def _is_named(file: os.stat_result, folder: Folder, name: str) -> bool:
    """Whether ``name`` of ``folder`` is ``file`` already: to rename one of its names to
    another does nothing, and would leave the first."""
    try:
        there = folder.lstat(name)
    except OSError:
        return False
    return os.path.samestat(file, there)


def _link(folder: Folder, name: str) -> str:
    try:
        return os.readlink(name, dir_fd=folder.fd)
    except OSError:
        return ""
