"""Links in the scratch that lead to files on the PFS or in a pool of the tier, and what
tasks make of them."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import Iterator, Mapping, NamedTuple, Tuple

from pegasus_bb.errors import PegasusBBError, UsageError
from pegasus_bb.paths import cut_name, is_below

_TRIES = 100  # to replace what others replace as well


class LinkFailed(PegasusBBError):
    """A link could not be made, or what replaced it could not be moved."""


class Link(NamedTuple):
    """A name on the buffer and the file elsewhere that it stands for."""

    lfn: str
    path: str  # of the link, in this run's scratch on the buffer
    target: str
    ours: bool  # target lies in a folder of this run; we may write there


def checked_path(scratch: str, lfn: str) -> str:
    """The path of ``lfn`` in ``scratch``. Raises UsageError if it leads outside.

    Folders on the way that are links to another place lead outside, too; what stands
    under the name itself may be a link.
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
    folder, root = os.path.realpath(os.path.dirname(path)), os.path.realpath(scratch)
    if folder != root and not is_below(folder, root):
        raise UsageError(
            f"LFN {lfn!r} leads out of the scratch directory {scratch}, through a link "
            f"to {folder}"
        )
    return path


def _is_name(lfn: str) -> bool:
    """Whether the system takes it: no NUL, and no half of a surrogate pair."""
    try:
        return b"\0" not in os.fsencode(lfn)
    except UnicodeEncodeError:
        return False


def planned_links(
    links: Mapping[str, str], scratch: str, pfs_scratch: str
) -> Iterator[Link]:
    """What a node's file asks for, checked. Raises UsageError."""
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
    """Make ``path`` a link to ``target``, in one step whatever was there before.

    Raises OSError (a folder in its place, no permission, ...).
    """
    try:
        os.symlink(target, path)  # mostly nothing is there yet
        return
    except FileExistsError:
        pass
    for _ in range(_TRIES):
        if os.path.islink(path) and os.readlink(path) == target:
            return
        if _replaced_by_link(path, target):
            return
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), path)


def _replaced_by_link(path: str, target: str) -> bool:
    """Whether it was done; not if another process used the same temporary name.

    That name is always the same, so the next process removes what a killed one left.
    """
    part = _beside(path, "link")
    try:
        os.symlink(target, part)
    except FileExistsError:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
        return False
    try:
        os.replace(part, path)
    except FileNotFoundError:
        return False
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
        raise
    return True


def _beside(path: str, kind: str) -> str:
    """A temporary name for what becomes of ``path``, short enough for any name."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{os.fsdecode(cut_name(name))}.{kind}.part")


def is_stray(link: Link) -> bool:
    """Whether a file or folder stands where ``link`` belongs."""
    if is_at_home(link):
        return False
    try:
        return not stat.S_ISLNK(os.lstat(link.path).st_mode)
    except FileNotFoundError:
        return False


def is_at_home(link: Link) -> bool:
    """Whether link and target are one path: the run's scratch is on the PFS."""
    return link.path == os.path.normpath(link.target)


def make_link(link: Link) -> str:
    """Make ``link``, and the folders of both its ends; a message, or "".

    The target need not exist: a task writes outputs through the link. A file that an
    earlier attempt left in its place is first moved to the target.
    """
    note = ""
    try:
        os.makedirs(os.path.dirname(link.path), exist_ok=True)
        if is_at_home(link):
            return note
        if link.ours:
            os.makedirs(os.path.dirname(link.target), exist_ok=True)
            _finish(link)
        if is_stray(link):
            note, kept = bring_home(link)
            if kept:
                return note
        put_link(link.path, link.target)
    except OSError as error:
        raise LinkFailed(
            f"{link.path}: cannot become a link to {link.target}: {error.strerror}"
        ) from error
    return note


def _finish(link: Link) -> None:
    """Remove a folder that a killed job had already moved."""
    aside = _beside(link.path, "stray")
    if os.path.lexists(aside):
        from pegasus_bb.removal import remove as remove_tree

        remove_tree(aside)


def bring_home(link: Link) -> Tuple[str, bool]:
    """Move a stray to the PFS and put the link back: (note, whether it stayed).

    A task that writes a temporary file and renames it over its output replaces the
    link. A stray in place of an input outside of the run stays where it is:
    the task has its own version, and the original must not change.
    """
    if not link.ours:
        return f"{link.lfn}: replaced by a task; {link.target} was left as it is", True
    from pegasus_bb.removal import remove as remove_tree
    from pegasus_bb.staging.folder import copy_path
    from pegasus_bb.staging.parts import parts_in

    left = parts_in(os.path.dirname(link.target)).get(cut_name(link.target), [])
    for part in left:  # by a job that was killed on the way
        remove_tree(part)
    # What is there already is of an earlier attempt, and this one is newer.
    copied = copy_path(link.path, link.target, digest=False, replace=True)
    if os.path.isdir(link.path):  # a link cannot be renamed over a folder
        aside = _beside(link.path, "stray")
        os.rename(link.path, aside)
        put_link(link.path, link.target)
        remove_tree(aside)
    else:
        put_link(link.path, link.target)
    return f"{link.lfn}: {copied.size} bytes moved to {link.target}", False
