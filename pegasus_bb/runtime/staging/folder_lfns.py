"""Copies folders that are LFNs: they get their name only when they are complete."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from pegasus_bb.core.files import sync_directory
from pegasus_bb.core.refusals import HARD_LINK, SYMBOLIC_LINK, keep_mode, warn_refused
from pegasus_bb.core.removal import remove
from pegasus_bb.runtime.staging.digests import is_by_blocks
from pegasus_bb.runtime.staging.failures import CopyFailed, explained, not_a_file
from pegasus_bb.runtime.staging.folder_links import Links
from pegasus_bb.runtime.staging.lookalikes import one_name
from pegasus_bb.runtime.staging.onefile import Copied, copy_file, digest_file
from pegasus_bb.runtime.staging.parts import part_name
from pegasus_bb.runtime.staging.writing import DEFAULT_WRITING, Writing

Copy = Callable[[str, str], Copied]  # of one file


def copy_path(
    source: str,
    dest: str,
    *,
    digest: bool = True,
    replace: bool = False,
    vanishing: Sequence[str] = (),
    writing: Writing = DEFAULT_WRITING,
) -> Copied:
    """Like copy_file; a folder is copied with everything in it.

    ``replace``: a folder at ``dest`` is the caller's own and may be replaced.
    ``vanishing``: folders that will be gone, so links into them are resolved.
    """
    if os.path.isdir(source):
        return _copy_tree(
            source,
            dest,
            digest=digest,
            replace=replace,
            vanishing=vanishing,
            writing=writing,
        )
    return copy_file(source, dest, digest=digest, writing=writing)


def digest_path(path: str, like: str = "") -> str:
    """``sha256:...`` of a file's bytes, or of a folder's tree. ``like``: the digest
    that a file may have.

    Raises OSError, and CopyFailed for anything else.
    """
    return digest_tree(path) if os.path.isdir(path) else digest_file(path, like)


def _copy_tree(
    source: str,
    dest: str,
    *,
    digest: bool,
    replace: bool,
    vanishing: Sequence[str],
    writing: Writing,
) -> Copied:
    """Copy folder ``source`` to ``dest``; folder_links.py says what happens to its
    links.

    Raises CopyFailed, also if ``dest`` is a folder with other contents and ``replace``
    is not set; ``dest`` is then unchanged.
    """
    if os.path.exists(dest) and os.path.samefile(source, dest):
        return Copied(
            _size(source), digest_tree(source) if digest else "", os.lstat(dest)
        )
    part = part_name(dest)
    try:
        files = _Files(partial(copy_file, writing=writing))
        digests = dict(_copy_entries(source, part, Links(source, vanishing), files))
        if not replace:
            _check_same_contents(part, dest, digests)
        _swap_in(part, dest)
    except OSError as error:
        raise explained(error, source, dest) from error
    except RecursionError as error:
        raise CopyFailed(f"{source}: has too many folders in each other") from error
    finally:
        remove(part)
    text = _digest_of(dest, digests) if digest else ""
    return Copied(_size(dest), text, os.lstat(dest))


def digest_tree(path: str) -> str:
    """``sha256:...`` over names, links and the digests of all files below ``path``."""
    return _digest_of(path, {})


class _Files:
    """Copies the files of a folder. Names of one file stay names of one file."""

    def __init__(self, copy: Copy) -> None:
        self._copy = copy
        # (device, inode) -> the first copy of a file with several names, its digest
        self._first: dict[tuple[int, int], tuple[str, str]] = {}

    def copy(self, source: str, dest: str) -> str:
        """Return the digest. Raises CopyFailed, OSError."""
        found = os.stat(source)
        key = found.st_dev, found.st_ino
        if key in self._first:
            first, digest = self._first[key]
            try:
                os.link(first, dest)
                return digest
            except OSError as error:
                warn_refused(HARD_LINK, dest, error)
        digest = self._copy(source, dest).digest
        if found.st_nlink > 1:
            self._first[key] = dest, digest
        return digest


def _copy_entries(
    source: str, dest: str, links: Links, files: _Files, below: str = ""
) -> Iterator[tuple[str, str]]:
    """Copy the entries of ``source``; yields (path in the copy, digest) of each
    file."""
    os.mkdir(dest, 0o700)
    with os.scandir(source) as entries:
        for entry in entries:
            name = os.path.join(below, entry.name)
            to = os.path.join(dest, entry.name)
            if os.path.lexists(to):  # in a new folder
                raise one_name(to, _entry_like(to))
            if entry.is_symlink():
                yield from _copy_link(entry.path, to, links, files, name)
            elif entry.is_dir():
                yield from _copy_entries(entry.path, to, links, files, name)
            elif entry.is_file():
                yield name, files.copy(entry.path, to)
            else:
                raise not_a_file(entry.path)
    keep_mode(dest, os.stat(source).st_mode & 0o777, dest)
    sync_directory(dest)


def _entry_like(path: str) -> str:
    """The entry of its folder that ``path`` leads to by another name."""
    folder = os.path.dirname(path)
    found = os.lstat(path)
    with os.scandir(folder) as entries:
        others = [each.path for each in entries if each.inode() == found.st_ino]
    return others[0] if others else path


def _copy_link(
    path: str, to: str, links: Links, files: _Files, name: str
) -> Iterator[tuple[str, str]]:
    link = links.copied_link(path)
    if not link.is_resolved:
        try:
            os.symlink(link.target, to)
        except OSError as error:
            if not os.path.isfile(path):
                raise
            warn_refused(SYMBOLIC_LINK, to, error)
            yield name, files.copy(os.path.realpath(path), to)
    elif os.path.isdir(link.target):
        inner = links.below(path, link.target)
        yield from _copy_entries(link.target, to, inner, files, name)
    else:
        yield name, files.copy(link.target, to)


def _check_same_contents(part: str, dest: str, digests: dict[str, str]) -> None:
    """Raises CopyFailed if ``dest`` has other contents: they are the user's."""
    if not os.path.isdir(dest) or os.path.islink(dest) or not os.listdir(dest):
        return
    if digest_tree(dest) != _digest_of(part, digests):
        raise CopyFailed(
            f"{dest} is a folder with other contents already, so it was not replaced; "
            "move it away, or stage out to another place"
        )


def _swap_in(part: str, dest: str) -> None:
    old = part_name(dest)
    if os.path.lexists(dest):
        os.rename(dest, old)
    try:
        os.rename(part, dest)
    except OSError:
        if os.path.lexists(old):
            os.rename(old, dest)
        raise
    sync_directory(os.path.dirname(dest) or ".")
    remove(old)


def _walk(path: str, below: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
    with os.scandir(path) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            name = os.path.join(below, entry.name)
            yield name, entry
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(entry.path, name)


def _digest_of(path: str, known: dict[str, str]) -> str:
    import hashlib  # not at the top: most jobs copy only files

    hasher = hashlib.sha256()
    for name, entry in _walk(path):
        if entry.is_symlink():
            what = "link " + os.readlink(entry.path)
        elif entry.is_dir():
            what = "folder"
        elif not entry.is_file():
            raise not_a_file(entry.path)
        else:
            what = _digest_of_file(entry.path, known.get(name, ""))
        hasher.update(os.fsencode(f"{name}\0{what}\0"))
    return "sha256:" + hasher.hexdigest()


def _digest_of_file(path: str, known: str) -> str:
    """``known``, unless it is of blocks and the copy, which has no holes, is read as a
    whole from now on."""
    if known and not is_by_blocks(known):
        return known
    found = digest_file(path)
    return known if known and is_by_blocks(found) else found


def _size(path: str) -> int:
    return sum(
        entry.stat(follow_symlinks=False).st_size
        for _, entry in _walk(path)
        if entry.is_file(follow_symlinks=False)
    )
