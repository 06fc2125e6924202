"""Copies files one after the other, in Python.

`Plain` replaces the compiled helper. `SingleFiles` copies files that are too large for
a batch, have holes, or changed while a batch was copied.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple, Union

from pegasus_bb.runtime.staging.digests import Digest
from pegasus_bb.runtime.staging.failures import CopyFailed, explained, of_another_size
from pegasus_bb.runtime.staging.items import (
    Answer,
    Batch,
    Copier,
    Item,
    Landed,
    Rescheduled,
    stamp,
)
from pegasus_bb.runtime.staging.moves import Tell
from pegasus_bb.runtime.staging.onefile import (
    TRIES,
    Changed,
    compare,
    copy_into,
    open_source,
    settled_stat,
    still_changing,
)
from pegasus_bb.runtime.staging.parts import part_of
from pegasus_bb.runtime.staging.segments import Segments
from pegasus_bb.runtime.staging.writing import Writing

LARGE = 64 << 20  # bytes; a larger file is made durable by its copier


class Written(NamedTuple):
    size: int
    digest: str
    source: list[int]  # its stamp


Copy = Callable[[Item], Written]
Result = Union[Written, CopyFailed, Rescheduled]


class Plain(Copier):
    limit = (1 << 20) - 1

    def __init__(self, digest: Digest | None, segments: Segments | None = None) -> None:
        self._digest = digest
        self._segments = segments

    def copy(self, batch: Batch, tag: str, *, follow: bool, tell: Tell) -> None:
        def copy(item: Item) -> Written:
            return self._copy_part(item, tag, follow=follow, tell=tell)

        batch.results = [self._result(item, copy) for item in batch.items]

    def changed(self, batch: Batch) -> list[Item]:
        pairs = zip(batch.items, batch.results)
        return [item for item, result in pairs if isinstance(result, Rescheduled)]

    def rename(self, batch: Batch, tag: str) -> list[Answer]:
        pairs = zip(batch.items, batch.results)
        return [_rename(item, result, tag) for item, result in pairs]

    def _result(self, item: Item, copy: Copy) -> Result:
        try:
            return self._try_copy(item, copy)
        except CopyFailed as failure:
            return failure
        except OSError as error:
            return explained(error, item.source_path, item.dest_path)

    def _try_copy(self, item: Item, copy: Copy) -> Result:
        try:
            return copy(item)
        except Changed:
            return Rescheduled()

    def _copy_part(self, item: Item, tag: str, *, follow: bool, tell: Tell) -> Written:
        """Copy ``item`` to its temporary name; a large file is durable then.

        Raises OSError, Changed, and CopyFailed if it is not a regular file.
        """
        source = open_source(item.name, item.source.fd, follow=follow)
        try:
            before = settled_stat(source)
            poured = copy_into(
                source,
                before,
                part_of(item.as_name, tag),
                digest=self._digest,
                folder=item.dest.fd,
                durable=before.st_size >= LARGE,
                tell=tell,
                writing=Writing(self._segments, item.hint),
            )
        finally:
            os.close(source)
        try:
            now = os.stat(item.name, dir_fd=item.source.fd, follow_symlinks=follow)
            compare(before, now)
        except BaseException:
            discard(item, tag)
            raise
        return Written(poured.size, poured.digest, stamp(before))


class SingleFiles(Plain):
    """Copies any file; tries again if the file changes."""

    limit = 1 << 63

    def _try_copy(self, item: Item, copy: Copy) -> Result:
        why = ""
        for _ in range(TRIES):
            try:
                return copy(item)
            except Changed as error:
                why = str(error)
        raise still_changing(item.source_path, why)


def discard(item: Item, tag: str) -> None:
    try:
        item.dest.unlink(part_of(item.as_name, tag))
    except OSError:
        pass


def _rename(item: Item, result: Result, tag: str) -> Answer:
    if not isinstance(result, Written):
        return result
    part = part_of(item.as_name, tag)
    folder = item.dest.fd
    try:
        os.rename(part, item.as_name, src_dir_fd=folder, dst_dir_fd=folder)
        found = item.dest.lstat(item.as_name)
    except OSError as error:
        discard(item, tag)
        return explained(error, item.source_path, item.dest_path)
    if found.st_size != result.size:
        return of_another_size(item.dest_path)
    return Landed(result.size, result.digest, stamp(found), result.source)
