"""Links in the scratch to files on the PFS or in a pool of the tier, and files that
tasks put in their place."""

from __future__ import annotations

import errno
import os
import stat

from pegasus_bb.core.errors import PegasusBBError, UsageError
from pegasus_bb.core.files import make_folder_of, named_by_link, unlink_if_there
from pegasus_bb.core.light_typing import TYPE_CHECKING, NamedTuple
from pegasus_bb.core.paths import cut_name, is_below

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_TRIES = 100  # to replace a link that other processes replace as well


class LinkFailed(PegasusBBError):
    """A link could not be made, or the file that replaced it could not be moved."""


class RealFolders:
    """The real path of a folder, asked once: what has many files to look at, and finds
    the folders as it leaves them, asks for no folder again."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def __call__(self, folder: str) -> str:
        if folder not in self._known:
            self._known[folder] = os.path.realpath(folder)
        return self._known[folder]


class Link(NamedTuple):
    """A name on the buffer, and the file elsewhere that it leads to."""

    lfn: str
    path: str  # of the link, in this run's scratch on the buffer
    target: str
    ours: bool  # target lies in a folder of this run; we may write there


def checked_path(
    scratch: str, lfn: str, real: Callable[[str], str] = os.path.realpath
) -> str:
    """The path of ``lfn`` in ``scratch``. Raises UsageError if it leads outside.

    A folder of the path that is a link to another place leads outside, too; the file
    itself may be a link. ``real`` gives the real path of a folder.
    """
    parts = lfn.split("/")
    path = os.path.normpath(os.path.join(scratch, lfn))
    if (
        lfn.startswith("/")
        or not _is_name(lfn)
        or ".." in parts
        or not is_below(path, scratch)
    ):
        raise UsageError(f"LFN {lfn!r} leads out of the scratch directory {scratch}")
    folder = real(os.path.dirname(path))
    root = real(scratch)
    if folder != root and not is_below(folder, root):
        raise UsageError(
            f"LFN {lfn!r} leads out of the scratch directory {scratch}, through a link "
            f"to {folder}"
        )
    return path


def _is_name(lfn: str) -> bool:
    """Whether it can be a file name: no NUL, and no lone surrogate."""
    try:
        return b"\0" not in os.fsencode(lfn)
    except UnicodeEncodeError:
        return False


def planned_links(
    links: Mapping[str, str], scratch: str, pfs_scratch: str
) -> Iterator[Link]:
    """The links in a node's file, checked. Raises UsageError."""
    for lfn, target in links.items():
        if not os.path.isabs(target):
            raise UsageError(
                f"{lfn!r}: a link must lead to a full path, not {target!r}"
            )
        ours = is_below(os.path.normpath(target), pfs_scratch)
        yield Link(lfn, checked_path(scratch, lfn), target, ours)


def pool_links(
    pools: Mapping[str, str], scratch: str, folders: Mapping[str, str]
) -> Iterator[Link]:
    """Links into the run's ``folders`` in pools of the tier. Raises UsageError."""
    for lfn, pool in pools.items():
        if pool not in folders:
            raise UsageError(f"{lfn!r}: placement.json has no folder in pool {pool!r}")
        target = checked_path(folders[pool], lfn)
        yield Link(lfn, checked_path(scratch, lfn), target, True)


def put_link(path: str, target: str) -> None:
    """Make ``path`` a link to ``target``, replacing atomically whatever is there.

    Raises OSError (a folder in its place, no permission, ...).
    """
    try:
        os.symlink(target, path)  # usually nothing is there
        return
    except FileExistsError:
        pass
    for _ in range(_TRIES):
        if os.path.islink(path) and os.readlink(path) == target:
            return
        if _replace_by_link(path, target):
            return
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), path)


def _replace_by_link(path: str, target: str) -> bool:
    """Whether it succeeded: another process may use the same temporary name.

    The name is fixed, so that the next process removes the file of a killed one.
    """
    part = _temporary_name(path, "link")
    try:
        os.symlink(target, part)
    except FileExistsError:
        unlink_if_there(part)
        return False
    try:
        os.replace(part, path)
    except FileNotFoundError:
        return False
    except BaseException:
        unlink_if_there(part)
        raise
    return True


def _temporary_name(path: str, kind: str) -> str:
    """A temporary name next to ``path``, short enough for any name."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{os.fsdecode(cut_name(name))}.{kind}.part")


def copy_borrowed(path: str, home: str, pfs_scratch: str) -> None:
    """Give ``path`` bytes of its own if it is a link into ``pfs_scratch``. ``home``:
    where a planned link in its place leads, else ``path``. Raises OSError,
    CopyFailed."""
    text = os.readlink(path)
    passed = named_by_link(path, text)
    real = os.path.realpath(path)
    below = os.path.realpath(pfs_scratch)
    if text == home or not (is_below(passed, below) or is_below(real, below)):
        return
    from pegasus_bb.runtime.staging.folder_lfns import copy_path

    own = _temporary_name(path, "own") if home == path else home
    copy_path(real, own, digest=False, replace=True)
    if home != path:
        put_link(path, home)
        return
    if os.path.isdir(own):  # it cannot be renamed over a link
        os.unlink(path)
    os.rename(own, path)


def is_stray(link: Link) -> bool:
    """Whether a file or folder is in the place of ``link``."""
    if is_its_own_target(link):
        return False
    try:
        return not stat.S_ISLNK(os.lstat(link.path).st_mode)
    except FileNotFoundError:
        return False


def is_its_own_target(link: Link) -> bool:
    """Whether link and target are the same path: the run's scratch is on the PFS."""
    return link.path == os.path.normpath(link.target)


def make_link(link: Link) -> str:
    """Make ``link``, and the folders of link and target; returns a message, or "".

    The target need not exist: a task writes outputs through the link. A file that an
    earlier attempt left in place of the link is first moved to the target.
    """
    note = ""
    try:
        make_folder_of(link.path)
        if is_its_own_target(link):
            return note
        if link.ours:
            make_folder_of(link.target)
            _remove_moved_folder(link)
        if is_stray(link):
            note, stays = move_stray(link)
            if stays:
                return note
        put_link(link.path, link.target)
    except OSError as error:
        raise LinkFailed(
            f"{link.path}: cannot become a link to {link.target}: {error.strerror}"
        ) from error
    return note


def _remove_moved_folder(link: Link) -> None:
    """Remove a folder whose contents a killed job had already moved."""
    moved = _temporary_name(link.path, "stray")
    if os.path.lexists(moved):
        from pegasus_bb.core.removal import remove as remove_tree

        remove_tree(moved)


def move_stray(link: Link, vanishing: Sequence[str] = ()) -> tuple[str, bool]:
    """Move a stray to the target and restore the link: (message, whether it stays).
    ``vanishing``: folders that will be gone, so links into them are resolved.

    A task that writes a temporary file and renames it over its output replaces the
    link. A stray in place of an input outside of the run stays where it is:
    the task has its own version, and the original must not change.
    """
    if not link.ours:
        return f"{link.lfn}: replaced by a task; {link.target} was left as it is", True
    from pegasus_bb.core.removal import remove as remove_tree
    from pegasus_bb.runtime.staging.folder_lfns import copy_path
    from pegasus_bb.runtime.staging.parts import parts_in

    left = parts_in(os.path.dirname(link.target)).get(cut_name(link.target), [])
    for part in left:  # by a killed job
        remove_tree(part)
    # A file at the target is of an earlier attempt, and older.
    copied = copy_path(
        link.path, link.target, digest=False, replace=True, vanishing=vanishing
    )
    if os.path.isdir(link.path):  # a link cannot be renamed over a folder
        moved = _temporary_name(link.path, "stray")
        os.rename(link.path, moved)
        put_link(link.path, link.target)
        remove_tree(moved)
    else:
        put_link(link.path, link.target)
    return f"{link.lfn}: {copied.size} bytes moved to {link.target}", False
