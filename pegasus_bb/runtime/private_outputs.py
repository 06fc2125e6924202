"""Moves what a task has made in its private folder to the workflow directory."""

from __future__ import annotations

import errno
import os
import stat

from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.core.refusals import close_to_writing

if TYPE_CHECKING:
    from collections.abc import Sequence


def move_back(
    made: str, dest: str, going: Sequence[str], *, is_read: bool, is_link: bool
) -> None:
    """Rename ``made`` to ``dest``. A task's own link is copied as what it leads to, and
    so is what lies on another file system. ``going``: the folders that will be gone."""
    found = os.lstat(made)
    if stat.S_ISLNK(found.st_mode) and not is_link:
        _copy_back(made, dest, going, is_read=is_read)
        return
    if is_read and stat.S_ISREG(found.st_mode):
        close_to_writing(made, found.st_mode)
    elif stat.S_ISDIR(found.st_mode):
        _resolve_links(made, going)
    try:
        os.rename(made, dest)
    except OSError as error:
        if error.errno == errno.EXDEV:
            _copy_back(made, dest, going, is_read=is_read)
            return
        if error.errno not in (errno.EISDIR, errno.ENOTEMPTY, errno.EEXIST):
            raise
        from pegasus_bb.core.removal import remove

        remove(dest)  # of an earlier try; nothing can be renamed over a folder
        os.rename(made, dest)


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
    from pegasus_bb.core.paths import is_below

    text = os.readlink(link)
    folder, name = os.path.split(os.path.join(os.path.dirname(link), text))
    target = os.path.normpath(os.path.join(os.path.realpath(folder), name))
    stays = not os.path.isabs(text) and is_below(target, os.path.realpath(made))
    leads_there = any(is_below(target, os.path.realpath(each)) for each in going)
    return leads_there and not stays and os.path.exists(link)


def _copy_back(made: str, dest: str, going: Sequence[str], *, is_read: bool) -> None:
    from pegasus_bb.runtime.staging.folder_lfns import copy_path

    copy_path(made, dest, digest=False, replace=True, vanishing=going)
    mode = os.lstat(dest).st_mode
    if is_read and stat.S_ISREG(mode):  # later, it would disturb a stage-out
        close_to_writing(dest, mode)
