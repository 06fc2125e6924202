"""The copies of a job list: files by the mover, many at once; folders one by one.

A promised result gets its line in the manifest when it is complete and durable.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.files import append_all
from pegasus_bb.core.paths import cut_name, is_below
from pegasus_bb.core.refusals import keep_mode
from pegasus_bb.core.removal import remove
from pegasus_bb.runtime import manifest
from pegasus_bb.runtime.scratch_root import Roots
from pegasus_bb.runtime.staging.digests import SHA256
from pegasus_bb.runtime.staging.durable import JournalPace
from pegasus_bb.runtime.staging.failures import CopyFailed
from pegasus_bb.runtime.staging.folder_lfns import copy_path
from pegasus_bb.runtime.staging.items import Folder, Item, Landed, item_of, stamp
from pegasus_bb.runtime.staging.lookalikes import Made
from pegasus_bb.runtime.staging.mover import Mover
from pegasus_bb.runtime.staging.onefile import same_file
from pegasus_bb.runtime.staging.parts import parts_in
from pegasus_bb.runtime.staging.segments import Segments
from pegasus_bb.runtime.staging.writing import Writing
from pegasus_bb.runtime.transfers.checksums import check_digest
from pegasus_bb.runtime.transfers.transfer_methods import Way

if TYPE_CHECKING:
    from pegasus_bb.runtime.transfers.drain_transfers import Drains

_FOLDERS = 50  # kept open for the next file of the list
_LINES = 500  # of the manifest, per write
Copied = tuple[Way, int, Optional[Exception]]  # bytes, error
CopyResult = tuple[Way, Union[Landed, Exception, None]]


class Copies:
    def __init__(
        self,
        roots: Roots,
        vanishing: Sequence[str],
        manifest_path: str,
        uuid: str,
        threads: int = 0,
        drains: Drains | None = None,
    ) -> None:
        """``vanishing``: the folders that are removed with the reservation. ``drains``:
        how results leave it; None: at full speed."""
        self._roots = roots
        self._tier = vanishing
        self._threads = threads
        self._drains = drains
        self._manifest = manifest_path
        self._uuid = uuid
        self._lines: dict[str, dict[str, Any]] | None = None  # at the start of the job
        self._dests: set[str] | None = None  # of those lines
        self._made = Made()
        self._left: dict[str, dict[bytes, list[str]]] = {}  # by folder, read once

    def copy(self, ways: Sequence[Way]) -> Iterator[Copied]:
        """Copy all; yields the outcome of each, in any order."""
        alone: list[Way] = []
        remote: list[Way] = []
        files: list[Way] = []
        for way in ways:
            try:
                self._remove_parts(way.target)
                was_copied = self._was_copied(way)  # reads what is noted
                self._made.check(way.target)
                if was_copied:
                    yield way, os.path.getsize(way.target), None
                elif way.is_remote and _has_come(way):
                    if way.attempt.job.executable:
                        _set_executable(way)
                    yield way, os.path.getsize(way.target), None
                elif way.is_remote:
                    self._make_room(way)
                    remote.append(way)
                elif _is_own_copy(way):
                    alone.append(way)
                else:
                    self._make_room(way)
                    files.append(way)
            except (PegasusBBError, OSError) as error:
                yield way, 0, error
        yield from self._fetch(remote)
        with self._pace([*alone, *files]) as pace:
            for way in alone:
                yield self._try_one(way, pace if self._leaves(way) else None)
            groups: dict[tuple[bool, bool], list[Way]] = {}
            for way in files:
                digest = way.promised or bool(way.checksum)
                groups.setdefault((digest, self._leaves(way)), []).append(way)
            for (digest, leaves), group in groups.items():
                yield from self._copy_many(
                    group, digest=digest, segments=pace if leaves else None
                )

    def _fetch(self, ways: Sequence[Way]) -> Iterator[Copied]:
        """Fetch files of other hosts, several at once."""
        if not ways:
            return
        from pegasus_bb.runtime.transfers.remote_files import fetch_all  # few inputs

        for way, result in fetch_all(ways, self._threads or len(ways)):
            try:
                if not isinstance(result, Landed):
                    yield way, 0, result
                    continue
                landed = _make_executable(way, result)
                self._made.add(way.target)
                yield way, landed.size, None
            except OSError as error:
                yield way, 0, error

    @contextlib.contextmanager
    def _pace(self, ways: Sequence[Way]) -> Iterator[Segments | None]:
        """The pace of those ``ways`` that leave the tier."""
        pace = self._drains.pace(ways) if self._drains else None
        try:
            yield pace
        finally:
            if pace is not None:
                pace.close()

    def _leaves(self, way: Way) -> bool:
        return self._drains is not None and self._drains.leaves(way)

    def _try_one(self, way: Way, segments: Segments | None) -> Copied:
        try:
            return way, self._copy_one(way, segments), None
        except (PegasusBBError, OSError) as error:
            return way, 0, error

    def _copy_one(self, way: Way, segments: Segments | None) -> int:
        """Copy a folder, or a file that is its own copy. Raises PegasusBBError,
        OSError."""
        copied = copy_path(
            way.source,
            way.target,
            digest=way.promised,
            replace=self._is_own_folder(way.target),
            vanishing=self._vanishing(way),
            writing=Writing(segments, way.hint),
        )
        if not os.path.isdir(way.source):
            check_digest(way.source, way.target, way.checksum, copied.digest)
        source = stamp(os.stat(way.source))
        landed = Landed(copied.size, copied.digest, stamp(copied.stat), source)
        self._note([(way, _make_executable(way, landed))])
        self._made.add(way.target)
        return copied.size

    def _copy_many(
        self, ways: Sequence[Way], *, digest: bool, segments: Segments | None
    ) -> Iterator[Copied]:
        landed: list[tuple[Way, Landed]] = []
        pace = JournalPace(_LINES)
        for way, result in self._copy_files(ways, digest=digest, segments=segments):
            try:
                if not isinstance(result, Landed):
                    yield way, 0, result
                    continue
                _check_copy(way, result)
                landed.append((way, _make_executable(way, result)))
                self._made.add(way.target)
            except (PegasusBBError, OSError) as error:
                yield way, 0, error
                continue
            if pace.is_due(len(landed), landed[-1][1].size):
                yield from self._note_and_report(landed)
        yield from self._note_and_report(landed)

    def _copy_files(
        self, ways: Sequence[Way], *, digest: bool, segments: Segments | None
    ) -> Iterator[CopyResult]:
        """Copy files; yields the result of each, in any order."""
        refused: list[CopyResult] = []
        wanted = SHA256 if digest else None
        mover = Mover(wanted, threads=self._threads, segments=segments)
        for outcome in mover.move(_items(ways, refused)):
            yield outcome.item.mark, outcome.landed or outcome.failure
        yield from refused

    def _note_and_report(self, landed: list[tuple[Way, Landed]]) -> Iterator[Copied]:
        """Write the lines of ``landed`` to the manifest, then yield their outcomes."""
        try:
            self._note(landed)
            yield from [(way, each.size, None) for way, each in landed]
        except OSError as error:
            yield from [(way, 0, error) for way, _ in landed]
        landed.clear()

    def _note(self, landed: Iterable[tuple[Way, Landed]]) -> None:
        results = [
            manifest.line(way.attempt.job.lfn, way.dest, each, self._uuid)
            for way, each in landed
            if way.promised
        ]
        if results:
            append_all(self._manifest, results)

    def _was_copied(self, way: Way) -> bool:
        """Whether an earlier try copied it, and neither side has changed since."""
        noted = self._noted().get(way.attempt.job.lfn, {}) if way.promised else {}
        if noted.get("dest") != way.dest or not noted.get("digest"):
            return False
        try:
            copy = os.lstat(way.dest)
            source = os.stat(way.source)
        except OSError:
            return False
        return (
            stat.S_ISREG(copy.st_mode)
            and stamp(copy) == noted.get("stat")
            and stamp(source) == noted.get("source")
        )

    def _noted(self) -> dict[str, dict[str, Any]]:
        if self._lines is None:
            self._lines = manifest.read(self._manifest, self._uuid)
            for entry in self._lines.values():  # by other jobs of the run
                self._made.add(str(entry.get("dest")))
        return self._lines

    def _vanishing(self, way: Way) -> list[str]:
        """Folders that will be gone after the run; a copy must have no links to
        them."""
        roots = self._roots.left_behind(way.source, way.target)
        return [*roots, *self._tier] if roots else roots

    def _is_own_folder(self, dest: str) -> bool:
        if not os.path.isdir(dest):
            return False
        if self._roots.own(dest):
            return True
        if self._dests is None:
            self._dests = {str(entry.get("dest")) for entry in self._noted().values()}
        return dest in self._dests

    def _remove_parts(self, dest: str) -> None:
        """Remove temporary files of killed attempts at ``dest``, to free space.

        If such an attempt still runs somewhere, its rename fails without harm.
        """
        folder = os.path.dirname(dest)
        if folder not in self._left:
            self._left[folder] = parts_in(folder)
        for path in self._left[folder].pop(cut_name(dest), []):
            remove(path)

    def _make_room(self, way: Way) -> None:
        """Remove the complete copy of a killed attempt: the buffer has no room for two.
        The source exists, and no job reads the copy before this job has ended."""
        if self._is_on_tier(way.target) and not self._is_on_tier(way.source):
            with contextlib.suppress(FileNotFoundError):
                if stat.S_ISREG(os.lstat(way.target).st_mode):
                    os.unlink(way.target)

    def _is_on_tier(self, path: str) -> bool:
        return any(is_below(path, folder) for folder in self._tier)


def _items(ways: Iterable[Way], refused: list[CopyResult]) -> Iterator[Item]:
    """Items for the mover; a file that cannot be opened goes to ``refused``."""
    opened: dict[str, Folder] = {}
    for way in ways:
        try:
            status = os.stat(way.source)
            source, name = _place(way.source, opened)
            dest, as_name = _place(way.target, opened)
        except OSError as error:
            refused.append((way, error))
            continue
        yield item_of(
            source, name, dest, as_name=as_name, status=status, mark=way, hint=way.hint
        )


def _place(path: str, opened: dict[str, Folder]) -> tuple[Folder, str]:
    folder, name = os.path.split(path)
    if folder not in opened:
        if len(opened) >= _FOLDERS:
            opened.clear()
        opened[folder] = Folder.open(folder)
    return opened[folder], name


def _is_own_copy(way: Way) -> bool:
    """Whether it is a folder, or a file that is its own copy. Raises OSError if there
    is no source."""
    found = os.stat(way.source)
    return stat.S_ISDIR(found.st_mode) or same_file(found, way.target) is not None


def _has_come(way: Way) -> bool:
    """Whether an earlier try has fetched just what the catalog declares."""
    try:
        is_file = stat.S_ISREG(os.lstat(way.target).st_mode)
        check_digest(way.source, way.target, way.checksum)
    except (PegasusBBError, OSError):
        return False
    return is_file and bool(way.checksum)


def _check_copy(way: Way, landed: Landed) -> None:
    """Remove a copy that is not what the catalog declares. Raises CopyFailed,
    OSError."""
    try:
        check_digest(way.source, way.target, way.checksum, landed.digest)
    except CopyFailed:
        os.unlink(way.target)
        raise


def _make_executable(way: Way, landed: Landed) -> Landed:
    """Make the copy executable if the job asks for it. Raises OSError."""
    if not way.attempt.job.executable:
        return landed
    _set_executable(way)
    return landed._replace(stamp=stamp(os.lstat(way.target)))


def _set_executable(way: Way) -> None:
    mode = os.lstat(way.target).st_mode & 0o777
    keep_mode(way.target, mode | (mode & 0o444) >> 2, way.target)
