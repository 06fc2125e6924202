"""Copies a file or a tree for `pegasus-bb stage`: the mover with a journal."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.paths import is_below
from pegasus_bb.runtime.staging.digests import Digest
from pegasus_bb.runtime.staging.failures import CopyFailed, explained
from pegasus_bb.runtime.staging.hints import NO_HINT
from pegasus_bb.runtime.staging.items import Folder, Item, Landed
from pegasus_bb.runtime.staging.mover import Mover
from pegasus_bb.runtime.staging.moves import Tell
from pegasus_bb.runtime.staging.parts import remove_parts
from pegasus_bb.runtime.staging.pour import ignore_progress, is_sparse
from pegasus_bb.runtime.staging.segments import Segments
from pegasus_bb.runtime.staging.stage_journal import StageJournal
from pegasus_bb.runtime.staging.tree import Tree, Wanted, all_of_it, mode_of

Fail = Callable[[CopyFailed], None]


class Stage:
    """One copy of ``source`` to ``dest``, with public counters of its progress."""

    def __init__(
        self,
        source: str,
        dest: str,
        journal: StageJournal,
        digest: Digest | None,
        fail: Fail,
        *,
        folders: tuple[Folder, Folder] | None = None,
        wanted: Wanted = all_of_it,
        segments: Segments | None = None,
        hint: int = NO_HINT,
    ) -> None:
        """Both are full paths. ``fail`` is called for every file that cannot be copied.
        ``folders``: both, opened and checked by the caller; the paths are then only for
        messages. ``wanted`` selects files and links of a folder. ``segments`` limits
        the rate. ``hint``: the write hint of each copy (hints.py).

        Raises UsageError if there is no source, or if one lies in the other.
        """
        self.source = source
        self.dest = dest
        self._journal = journal
        self._digest = digest
        self._tell_failure = fail
        self.files = self.bytes = self.kept = self.failed = 0
        self.folders = self.links = 0
        self._told: Tell = ignore_progress
        # files that will have further names
        self._linked: dict[str, Landed] = {}
        self._folders = folders
        self._wanted = wanted
        self._segments = segments
        self._hint = hint
        if folders is None:
            check_places(source, dest)

    def run(self, tell: Tell = ignore_progress) -> bool:
        """Copy all that is not there yet; returns whether everything is there.

        ``tell`` is called from several threads with the bytes just copied, and with
        those that are there already. Raises CopyFailed if the journal cannot be
        written.
        """
        self._told = tell
        mover = Mover(self._digest, follow=False, tell=tell, segments=self._segments)
        self._journal.begin(mover.tag)
        try:
            if self._folders is not None:
                self._tree(mover, *self._folders)
            elif os.path.isdir(self.source):
                source = Folder.open(self.source)
                self._tree(mover, source, _made(self.dest, mode_of(source) | 0o700))
            else:
                self._move(mover, iter([_single(self.source, self.dest)]), _alone)
        except OSError as error:
            self.fail(explained(error, self.source, self.dest))
        except BaseException:  # interrupted: keep the lines of finished copies
            with contextlib.suppress(CopyFailed):
                self._journal.flush()
            raise
        if self.failed:
            self._journal.flush()
        else:
            self._journal.end()
        return not self.failed

    def fail(self, failure: CopyFailed) -> None:
        self.failed += 1
        self._tell_failure(failure)

    def _tree(self, mover: Mover, source: Folder, dest: Folder) -> None:
        earlier = self._journal.tags
        tree = Tree(
            source,
            dest,
            mover.tag,
            fail=self.fail,
            earlier=earlier,
            wanted=self._wanted,
        )
        self._move(mover, tree.items(), tree.failed)
        if tree.has_further_names:
            names = tree.further_names(self._has_another_name)
            self._move(mover, names, tree.failed)
        tree.finish()
        self.folders = tree.folders
        self.links = tree.links
        tree.sync()

    def _move(
        self, mover: Mover, items: Iterator[Item], failed: Callable[[Item], None]
    ) -> None:
        for outcome in mover.move(self._hinted(self._missing(items))):
            if outcome.landed is None:
                self.fail(outcome.failure or CopyFailed("no reason is known"))
                failed(outcome.item)
                continue
            item = outcome.item
            landed = outcome.landed
            self.files += 1
            self.bytes += landed.size
            name = self._name(item)
            self._journal.note(name, landed)
            if item.mark.st_nlink > 1:
                self._linked[name] = landed

    def _has_another_name(self, name: str, before: list[int], after: list[int]) -> None:
        """Write the line of ``name`` again: another name has changed its copy's
        ctime."""
        landed = self._linked.get(name)
        if landed is not None and landed.stamp == before:
            self._linked[name] = landed._replace(stamp=after)
            self._journal.note(name, self._linked[name])

    def _missing(self, items: Iterator[Item]) -> Iterator[Item]:
        """Items that no earlier try has copied; removes their temporary files."""
        if self._journal.is_new and not self._journal.tags:
            yield from items
            return
        for item in items:
            if self._is_there(item):
                self.kept += 1
                self._told(item.size)
                continue
            remove_parts(item.dest.fd, item.as_name, self._journal.tags)
            yield item

    def _hinted(self, items: Iterator[Item]) -> Iterator[Item]:
        if self._hint == NO_HINT:
            return items
        return (item._replace(hint=self._hint) for item in items)

    def _is_there(self, item: Item) -> bool:
        try:
            copy = item.dest.lstat(item.as_name)
        except OSError:
            return False
        return self._journal.has(
            self._name(item), item.mark, copy, digest=self._digest is not None
        )

    def _name(self, item: Item) -> str:
        return item.dest_path[len(self.dest) + 1 :]


def _made(path: str, mode: int) -> Folder:
    """The folder at ``path``, through links, made with ``mode`` if it is not there."""
    is_new = not os.path.isdir(path)
    os.makedirs(path, mode, exist_ok=True)
    folder = Folder.open(path)
    folder.is_new = is_new
    return folder


def _alone(_: Item) -> None:
    """The callback for a single file, which has no further names."""


def _single(source: str, dest: str) -> Item:
    source = os.path.realpath(source)  # the user means the target of a link
    folder = os.path.dirname(dest)
    os.makedirs(folder, exist_ok=True)
    status = os.lstat(source)
    return Item(
        Folder.open(os.path.dirname(source)),
        os.path.basename(source),
        Folder.open(folder),
        os.path.basename(dest),
        status.st_size,
        is_sparse(status),
        status,
    )


def check_places(source: str, dest: str) -> None:
    """Raises UsageError if there is no source, if one lies in the other, or if a folder
    would have to replace a file."""
    real = os.path.realpath(source)
    copy = os.path.realpath(dest)
    if not os.path.lexists(source):
        raise UsageError(f"{source}: is not there")
    if real == copy or (os.path.exists(copy) and os.path.samefile(real, copy)):
        raise UsageError(f"{dest}: is {source} itself")
    for inner, outer in ((copy, real), (real, copy)):
        if is_below(inner, outer) and os.path.isdir(outer):
            raise UsageError(f"{source} -> {dest}: one lies in the other")
    if os.path.isdir(real) and os.path.exists(copy) and not os.path.isdir(copy):
        raise UsageError(
            f"{dest}: is no folder, but {source} is one; move it away, "
            "or say another DEST"
        )
