"""Moves what a task has made in its private folder to the workflow directory."""

from __future__ import annotations

import errno
import os
import stat

from pegasus_bb.core.light_typing import TYPE_CHECKING, NamedTuple
from pegasus_bb.core.refusals import close_to_writing

if TYPE_CHECKING:
    from collections.abc import Sequence


class Output(NamedTuple):
    """A file or folder that a task has made."""

    made: str  # its path in the private folder
    dest: str  # in the workflow directory
    is_read: bool  # by other jobs
    elsewhere: str  # where it lives, if a planned link leads there; else empty


def copy_links(output: Output, going: Sequence[str]) -> bool:
    """Copy a task's own link as what it leads to, and resolve those in a folder. They
    may lead to other outputs, so nothing is renamed before. False if nothing is left to
    rename. ``going``: the folders that will be gone."""
    mode = os.lstat(output.made).st_mode
    if stat.S_ISLNK(mode):
        if output.elsewhere:
            _keep_link(output, going)
        else:
            _copy_back(output, going)
        return bool(output.elsewhere)
    if stat.S_ISREG(mode) and output.is_read:
        close_to_writing(output.made, mode)
    elif stat.S_ISDIR(mode):
        _resolve_links(output.made, going)
    return True


def _keep_link(output: Output, going: Sequence[str]) -> None:
    """Restore a planned link that the task has replaced by one of its own."""
    made = output.made
    home = output.elsewhere
    if os.readlink(made) == home:
        return
    from pegasus_bb.runtime.scratch_links import put_link
    from pegasus_bb.runtime.staging.folder_lfns import copy_path

    copy_path(made, home, digest=False, replace=True, vanishing=going)
    put_link(made, home)


def move_back(output: Output, going: Sequence[str]) -> None:
    """Rename it to its destination; copy what lies on another file system."""
    made = output.made
    dest = output.dest
    try:
        _rename(made, dest)
    except OSError as error:
        if error.errno == errno.EXDEV:
            _copy_back(output, going)
            return
        if error.errno not in (errno.EISDIR, errno.ENOTEMPTY, errno.EEXIST):
            raise
        from pegasus_bb.core.removal import remove

        remove(dest)  # of an earlier try; nothing can be renamed over a folder
        _rename(made, dest)


def _rename(made: str, dest: str) -> None:
    """Rename it, also a folder that is closed to writing: its entry .. changes."""
    try:
        os.rename(made, dest)
    except PermissionError:
        mode = os.lstat(made).st_mode
        if not stat.S_ISDIR(mode) or mode & stat.S_IWUSR:
            raise
        os.chmod(made, stat.S_IMODE(mode) | stat.S_IWUSR)
        place = made
        try:
            os.rename(made, dest)
            place = dest
        finally:
            os.chmod(place, stat.S_IMODE(mode))


def _resolve_links(made: str, going: Sequence[str]) -> None:
    """Replace the links in folder ``made`` that will lead nowhere by what they lead to:
    inputs that the task has moved there are such links. Raises OSError, CopyFailed."""
    folders = [made]
    for folder in folders:
        with os.scandir(folder) as entries:
            inner = list(entries)
        folders += [each.path for each in inner if each.is_dir(follow_symlinks=False)]
        for each in inner:
            if each.is_symlink() and _will_break(each.path, made, going):
                from pegasus_bb.runtime.staging.folder_lfns import copy_path

                real = os.path.realpath(each.path)
                os.unlink(each.path)
                copy_path(real, each.path, digest=False, vanishing=going)


def _will_break(link: str, made: str, going: Sequence[str]) -> bool:
    """Whether the link in folder ``made`` leads to something that will be gone."""
    from pegasus_bb.core.files import named_by_link
    from pegasus_bb.core.paths import is_below

    text = os.readlink(link)
    target = os.path.normpath(named_by_link(link, text))
    root = os.path.realpath(made)
    inside = target == root or is_below(target, root)
    stays = inside and not os.path.isabs(text)
    leads_there = any(is_below(target, os.path.realpath(each)) for each in going)
    return leads_there and not stays and os.path.exists(link)


def _copy_back(output: Output, going: Sequence[str]) -> None:
    from pegasus_bb.runtime.staging.folder_lfns import copy_path

    dest = output.dest
    copy_path(output.made, dest, digest=False, replace=True, vanishing=going)
    mode = os.lstat(dest).st_mode
    if output.is_read and stat.S_ISREG(mode):  # later, it would disturb a stage-out
        close_to_writing(dest, mode)
