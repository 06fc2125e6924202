"""The copies of a job list: files by the mover, many at once; folders one by one.

A promised result gets its line in the manifest when it is whole and durable.
"""

from __future__ import annotations

import contextlib
import os
import stat
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterable,
    Iterator,
    List,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from pegasus_bb.errors import PegasusBBError
from pegasus_bb.files import append_all
from pegasus_bb.paths import cut_name, is_below
from pegasus_bb.removal import remove
from pegasus_bb.runtime import manifest
from pegasus_bb.runtime.scratch_root import Roots
from pegasus_bb.runtime.transfers.ways import Way
from pegasus_bb.staging.digests import SHA256
from pegasus_bb.staging.durable import Pace
from pegasus_bb.staging.folder import copy_path
from pegasus_bb.staging.items import Folder, Item, Landed, item_of, stamp
from pegasus_bb.staging.mover import Mover
from pegasus_bb.staging.onefile import same_file
from pegasus_bb.staging.parts import parts_in
from pegasus_bb.staging.segments import Segments
from pegasus_bb.staging.writing import Writing

if TYPE_CHECKING:
    from pegasus_bb.runtime.transfers.drains import Drains

_FOLDERS = 50  # kept open for the next file of the list
_LINES = 500  # of the manifest, written at once
Copied = Tuple[Way, int, Optional[Exception]]  # bytes, or why not
Brought = Tuple[Way, Union[Landed, Exception, None]]


class Copies:
    def __init__(
        self,
        roots: Roots,
        vanishing: Sequence[str],
        manifest_path: str,
        uuid: str,
        threads: int = 0,
        drains: Optional[Drains] = None,
    ) -> None:
        """``vanishing``: the folders that go with the reservation, if there is one.
        ``drains``: how results leave it; None: at full speed."""
        self._roots, self._tier, self._threads = roots, vanishing, threads
        self._drains = drains
        self._manifest, self._uuid = manifest_path, uuid
        self._lines: Optional[Dict[str, Dict[str, Any]]] = None  # as the job began
        self._left: Dict[str, Dict[bytes, List[str]]] = {}  # by folder, read once

    def copy(self, ways: Sequence[Way]) -> Iterator[Copied]:
        """Copy all; what became of each, in no order."""
        alone: List[Way] = []
        files: List[Way] = []
        for way in ways:
            try:
                self._clear(way.target)
                if self._was_brought(way):
                    yield way, os.path.getsize(way.target), None
                elif os.path.isdir(way.source) or _is_there(way):
                    alone.append(way)
                else:
                    self._make_room(way)
                    files.append(way)
            except (PegasusBBError, OSError) as error:
                yield way, 0, error
        with self._paced([*alone, *files]) as pace:
            for way in alone:
                yield self._tried(way, pace if self._leaves(way) else None)
            groups: Dict[Tuple[bool, bool], List[Way]] = {}
            for way in files:
                groups.setdefault((way.promised, self._leaves(way)), []).append(way)
            for (promised, leaves), some in groups.items():
                yield from self._many(some, promised, pace if leaves else None)

    @contextlib.contextmanager
    def _paced(self, ways: Sequence[Way]) -> Iterator[Optional[Segments]]:
        """The pace of those of ``ways`` that leave the tier."""
        pace = self._drains.pace(ways) if self._drains else None
        try:
            yield pace
        finally:
            if pace is not None:
                pace.close()

    def _leaves(self, way: Way) -> bool:
        return self._drains is not None and self._drains.leaves(way)

    def _tried(self, way: Way, segments: Optional[Segments]) -> Copied:
        try:
            return way, self._one(way, segments), None
        except (PegasusBBError, OSError) as error:
            return way, 0, error

    def _one(self, way: Way, segments: Optional[Segments]) -> int:
        """A folder, or a file that is its own copy. Raises PegasusBBError, OSError."""
        copied = copy_path(
            way.source,
            way.target,
            way.promised,
            self._wrote(way.target),
            self._vanishing(way),
            Writing(segments, way.hint),
        )
        source = stamp(os.stat(way.source))
        landed = Landed(copied.size, copied.digest, stamp(copied.stat), source)
        self._note([(way, _executable(way, landed))])
        return copied.size

    def _many(
        self, ways: Sequence[Way], digest: bool, segments: Optional[Segments]
    ) -> Iterator[Copied]:
        landed: List[Tuple[Way, Landed]] = []
        pace = Pace(_LINES)
        for way, found in self._landed(ways, digest, segments):
            try:
                if not isinstance(found, Landed):
                    yield way, 0, found
                    continue
                landed.append((way, _executable(way, found)))
            except OSError as error:
                yield way, 0, error
                continue
            if pace.is_due(len(landed), landed[-1][1].size):
                yield from self._told(landed)
        yield from self._told(landed)

    def _landed(
        self, ways: Sequence[Way], digest: bool, segments: Optional[Segments]
    ) -> Iterator[Brought]:
        """Copy files; what became of each, in no order."""
        refused: List[Brought] = []
        wanted = SHA256 if digest else None
        mover = Mover(wanted, threads=self._threads, segments=segments)
        for outcome in mover.move(_items(ways, refused)):
            yield outcome.item.mark, outcome.landed or outcome.failure
        yield from refused

    def _told(self, landed: List[Tuple[Way, Landed]]) -> Iterator[Copied]:
        """The outcome of ``landed``, once their lines are in the manifest."""
        try:
            self._note(landed)
            yield from [(way, each.size, None) for way, each in landed]
        except OSError as error:
            yield from [(way, 0, error) for way, _ in landed]
        landed.clear()

    def _note(self, landed: Iterable[Tuple[Way, Landed]]) -> None:
        results = [
            manifest.line(way.attempt.job.lfn, way.dest, each, self._uuid)
            for way, each in landed
            if way.promised
        ]
        if results:
            append_all(self._manifest, results)

    def _was_brought(self, way: Way) -> bool:
        """Whether an earlier try copied it, and neither side has changed since."""
        noted = self._noted().get(way.attempt.job.lfn, {}) if way.promised else {}
        if noted.get("dest") != way.dest or not noted.get("digest"):
            return False
        try:
            found, source = os.lstat(way.dest), os.stat(way.source)
        except OSError:
            return False
        return (
            stat.S_ISREG(found.st_mode)
            and stamp(found) == noted.get("stat")
            and stamp(source) == noted.get("source")
        )

    def _noted(self) -> Dict[str, Dict[str, Any]]:
        if self._lines is None:
            self._lines = manifest.read(self._manifest, self._uuid)
        return self._lines

    def _vanishing(self, way: Way) -> List[str]:
        """Folders that vanish with the run; links of a copy must not lead there."""
        roots = self._roots.left_behind(way.source, way.target)
        return [*roots, *self._tier] if roots else roots

    def _wrote(self, dest: str) -> bool:
        if not os.path.isdir(dest):
            return False
        if self._roots.own(dest):
            return True
        return any(entry.get("dest") == dest for entry in self._noted().values())

    def _clear(self, dest: str) -> None:
        """Remove what a killed attempt at ``dest`` left: the buffer has no room for it.

        If that attempt still runs somewhere, its rename fails without harm.
        """
        folder = os.path.dirname(dest)
        if folder not in self._left:
            self._left[folder] = parts_in(folder)
        for path in self._left[folder].pop(cut_name(dest), []):
            remove(path)

    def _make_room(self, way: Way) -> None:
        """Remove what a killed attempt brought whole: the buffer has no room for two of
        an input. Its source is there, and no job reads it before this job has ended."""
        if self._is_on_tier(way.target) and not self._is_on_tier(way.source):
            os.stat(way.source)
            with contextlib.suppress(FileNotFoundError):
                if stat.S_ISREG(os.lstat(way.target).st_mode):
                    os.unlink(way.target)

    def _is_on_tier(self, path: str) -> bool:
        return any(is_below(path, folder) for folder in self._tier)


def _items(ways: Iterable[Way], refused: List[Brought]) -> Iterator[Item]:
    """Items for the mover; a file that cannot be opened goes to ``refused``."""
    opened: Dict[str, Folder] = {}
    for way in ways:
        try:
            found = os.stat(way.source)
            source, name = _place(way.source, opened)
            dest, as_name = _place(way.target, opened)
        except OSError as error:
            refused.append((way, error))
            continue
        yield item_of(source, name, dest, as_name, found, way, way.hint)


def _place(path: str, opened: Dict[str, Folder]) -> Tuple[Folder, str]:
    folder, name = os.path.split(path)
    if folder not in opened:
        if len(opened) >= _FOLDERS:
            opened.clear()
        opened[folder] = Folder.open(folder)
    return opened[folder], name


def _is_there(way: Way) -> bool:
    """Whether source and copy are one file. Raises OSError where there is no source."""
    return same_file(os.stat(way.source), way.target) is not None


def _executable(way: Way, landed: Landed) -> Landed:
    """Make the copy executable if the job asks for it. Raises OSError."""
    if not way.attempt.job.executable:
        return landed
    mode = os.lstat(way.target).st_mode & 0o777
    os.chmod(way.target, mode | (mode & 0o444) >> 2)
    return landed._replace(stamp=stamp(os.lstat(way.target)))
