"""Are all promised results safe where they belong? bb_delete asks before it deletes.

Not the exit codes of stage-out, not the graph: the files themselves.
"""

from __future__ import annotations

import os
import stat
from typing import Any, Dict, Iterator, Mapping, NamedTuple, Optional
from urllib.parse import unquote, urlsplit

from pegasus_bb.runtime import manifest
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.staging.failures import CopyFailed
from pegasus_bb.staging.folder import digest_path
from pegasus_bb.staging.items import stamp


class Unsafe(NamedTuple):
    """A promised result that is not safe, and why."""

    lfn: str
    why: str


class Books(NamedTuple):
    """What was promised, and what stage-out has noted."""

    outputs: Mapping[str, str]
    noted: Dict[str, Dict[str, Any]]
    read_all: bool


def unsafe_results(
    bb: BBDir, uuid: str, read_all: bool, buffer: str = ""
) -> Iterator[Unsafe]:
    """Every promised result that the manifest and the disk do not vouch for.

    ``read_all``: read every result again, also where it is unchanged since it was
    verified. ``buffer``: the reservation itself, where this machine sees it.
    """
    noted = manifest.read(bb.file("manifest.jsonl"), uuid)
    outputs: Mapping[str, str] = bb.placement().get("outputs", {})
    for lfn, place in outputs.items():
        why = _why_unsafe(_local_path(place), noted.get(lfn, {}), read_all, buffer)
        if why:
            yield Unsafe(lfn, why)


class Promises:
    """Asks the same of one promised result at a time; reads its books once."""

    def __init__(self, bb: BBDir, buffer: str = "") -> None:
        """``buffer``: the reservation itself, as this job sees it."""
        self._bb, self._buffer = bb, buffer
        self._books: Optional[Books] = None

    def __call__(self, lfn: str) -> str:
        """Why the promised result ``lfn`` is not safe yet; empty where it is."""
        if self._books is None:
            request = self._bb.request()
            placement = self._bb.placement()
            self._books = Books(
                placement.get("outputs", {}),
                manifest.read(self._bb.file("manifest.jsonl"), request.uuid),
                request.settings.get("guard") == "digest",
            )
        place = _local_path(str(self._books.outputs.get(lfn, "")))
        entry = self._books.noted.get(lfn, {})
        return _why_unsafe(place, entry, self._books.read_all, self._buffer)


def _local_path(place: str) -> str:
    """The path in a destination; empty where it is not a file of this machine."""
    if not place.startswith("/"):
        url = urlsplit(place)
        return unquote(url.path) if url.scheme == "file" else ""
    return place


def _why_unsafe(dest: str, entry: Dict[str, Any], read_all: bool, buffer: str) -> str:
    if not dest:
        return "its destination cannot be looked at from here"
    if not entry:
        return f"stage-out has not noted it in the manifest; promised at {dest}"
    if os.path.normpath(str(entry.get("dest", ""))) != os.path.normpath(dest):
        return f"stage-out put it to {entry.get('dest')}; promised at {dest}"
    try:
        found = os.lstat(dest)
    except OSError as error:
        return f"{dest}: {error.strerror}"
    is_folder = stat.S_ISDIR(found.st_mode)
    if not is_folder and not stat.S_ISREG(found.st_mode):
        return f"{dest} is not a file of its own (a link may lead to the buffer)"
    if buffer and _lies_in(dest, buffer):
        return f"{dest} lies on the reservation itself"
    if is_folder:  # its own time tells nothing of what is in it: always read again
        return _why_wrong(dest, str(entry.get("digest", "")))
    if found.st_size != entry.get("size"):
        return f"{dest} has {found.st_size} bytes, expected {entry.get('size')}"
    if not read_all and _is_unchanged(found, entry.get("stat")):
        return ""
    return _why_wrong(dest, str(entry.get("digest", "")))


def _is_unchanged(found: os.stat_result, noted: Any) -> bool:
    """Lines of older runs have no ctime: device, inode and mtime count there."""
    return (
        isinstance(noted, list)
        and len(noted) in (3, 4)
        and stamp(found)[: len(noted)] == noted
    )


def _lies_in(path: str, folder: str) -> bool:
    real = os.path.realpath(folder)
    return os.path.commonpath([os.path.realpath(path), real]) == real


def _why_wrong(dest: str, expected: str) -> str:
    """Read ``dest`` again and compare."""
    if not expected.startswith("sha256:"):
        return f"{dest}: the manifest has no digest that can be checked ({expected})"
    try:
        found = digest_path(dest)
    except OSError as error:
        return f"{dest}: cannot be read ({error.strerror})"
    except CopyFailed as error:
        return str(error)
    return "" if found == expected else f"{dest} has {found}, expected {expected}"
