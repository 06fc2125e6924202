"""Checks that all promised results are safe; bb_delete does so before it deletes.

It relies on the files themselves, not on exit codes of stage-outs or edges of the DAG.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from urllib.parse import unquote, urlsplit

from pegasus_bb.core.light_typing import TYPE_CHECKING, NamedTuple
from pegasus_bb.core.paths import is_below
from pegasus_bb.runtime import manifest
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.scratch_links import RealFolders
from pegasus_bb.runtime.staging.failures import CopyFailed
from pegasus_bb.runtime.staging.folder_lfns import digest_path
from pegasus_bb.runtime.staging.items import stamp

if TYPE_CHECKING:
    from typing import Any


class Unsafe(NamedTuple):
    lfn: str
    why: str


class ResultsGuard:
    """Tells why promised results are not safe. Reads placement and manifest once."""

    def __init__(
        self, bb: BBDir, buffer: str = "", *, read_all: bool | None = None
    ) -> None:
        """``buffer``: the path of the reservation, if this machine sees it.

        ``read_all``: also read files that are unchanged since they were verified. By
        default ``pegasus.bb.guard`` decides.
        """
        self._bb = bb
        self._buffer = buffer
        self._read_all = read_all
        self._noted: dict[str, dict[str, Any]] | None = None
        self._outputs: Mapping[str, str] = {}
        self._vanishing: list[str] = []  # the reservation's folders, as real paths
        self._real = RealFolders()

    def why_unsafe(self, lfn: str) -> str:
        noted = self._read()
        place = local_path(str(self._outputs.get(lfn, "")))
        return self._fault(place, noted.get(lfn, {}))

    def unsafe(self) -> Iterator[Unsafe]:
        """Every promised result that manifest and disk do not prove to be safe."""
        self._read()
        for lfn in self._outputs:
            why = self.why_unsafe(lfn)
            if why:
                yield Unsafe(lfn, why)

    def _read(self) -> dict[str, dict[str, Any]]:
        if self._noted is None:
            request = self._bb.request()
            if self._read_all is None:
                self._read_all = request.settings.get("guard") == "digest"
            placement = self._bb.placement()
            self._outputs = placement.get("outputs", {})
            if self._buffer:
                folders = self._buffer, *placement.get("pools", {}).values()
                self._vanishing = [os.path.realpath(folder) for folder in folders]
            self._noted = manifest.read(self._bb.file("manifest.jsonl"), request.uuid)
        return self._noted

    def _fault(self, dest: str, entry: Mapping[str, Any]) -> str:
        if not dest:
            return "its destination cannot be looked at from here"
        if not entry:
            return f"no stage-out has noted that it is whole; promised at {dest}"
        if os.path.normpath(str(entry.get("dest", ""))) != os.path.normpath(dest):
            return f"stage-out put it to {entry.get('dest')}; promised at {dest}"
        try:
            status = os.lstat(dest)
        except OSError as error:
            return f"{dest}: {error.strerror}"
        is_folder = stat.S_ISDIR(status.st_mode)
        if not is_folder and not stat.S_ISREG(status.st_mode):
            return f"{dest} is not a file of its own (a link may lead to the buffer)"
        if self._vanishes(dest):
            return f"{dest} lies on the reservation itself"
        if is_folder:  # its own times do not cover its contents: always read again
            return _digest_fault(dest, str(entry.get("digest", "")))
        if status.st_size != entry.get("size"):
            return f"{dest} has {status.st_size} bytes, expected {entry.get('size')}"
        if not self._read_all and stamp(status) == entry.get("stat"):
            return ""
        return _digest_fault(dest, str(entry.get("digest", "")))

    def _vanishes(self, dest: str) -> bool:
        """Whether ``dest``, which is no link, is removed with the reservation."""
        folder, name = os.path.split(dest)
        real = os.path.join(self._real(folder), name).rstrip("/")
        return any(real == each or is_below(real, each) for each in self._vanishing)


def local_path(place: str) -> str:
    """The path of a destination; empty if this machine's file system has none."""
    if not place.startswith("/"):
        url = urlsplit(place)
        return unquote(url.path) if url.scheme == "file" else ""
    return place


def _digest_fault(dest: str, expected: str) -> str:
    if not expected.startswith("sha256"):
        return f"{dest}: the manifest has no digest that can be checked ({expected})"
    try:
        digest = digest_path(dest, expected)
    except OSError as error:
        return f"{dest}: cannot be read ({error.strerror})"
    except CopyFailed as error:
        return str(error)
    return "" if digest == expected else f"{dest} has {digest}, expected {expected}"
