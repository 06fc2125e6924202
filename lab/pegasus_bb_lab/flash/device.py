"""The simulated device: compiled (_flash.c) where that was built, else in Python.

PEGASUS_BB_HELPER=none does without the compiled one.
"""

from __future__ import annotations

import ctypes
import os
from array import array
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from pegasus_bb.core.errors import UsageError
from pegasus_bb_lab.flash.counters import Counters, State
from pegasus_bb_lab.flash.geometry import Geometry
from pegasus_bb_lab.flash.plain_device import Plain

VERSION = 1


class Kernel(Protocol):
    """A device and the files on it, which are known by their numbers."""

    def overwrite(self, logicals: array[int], stream: int) -> None:
        """Write these logical pages one after the other."""

    def replay(self, events: array[int], streams: bytes, unit: int) -> None:
        """An event n >= 0 writes ``unit`` pages to file n, n < 0 deletes file -n - 1.

        ``streams`` has the stream of each file. A page for which a full device has no
        room is refused and counted; deleting files makes room.
        """

    def counters(self) -> Counters: ...

    def state(self) -> State: ...


def new_device(geometry: Geometry, files: int) -> Kernel:
    """An empty device for ``files`` files. ``geometry`` has spare blocks."""
    library = _library()
    if library is None or os.environ.get("PEGASUS_BB_HELPER") == "none":
        return Plain(geometry, files)
    return Compiled(library, geometry, files)


class Compiled:
    """See `Kernel`. Raises UsageError without memory."""

    def __init__(self, library: Any, geometry: Geometry, files: int) -> None:
        self._library, self._geometry = library, geometry
        self._flash = ctypes.c_void_p(library.flash_new(*map(int, geometry), files))
        if not self._flash:
            pages = geometry.blocks * geometry.pages
            raise UsageError(f"no memory for {pages} pages; let them be larger")

    def __del__(self) -> None:
        self._library.flash_free(self._flash)

    def overwrite(self, logicals: array[int], stream: int) -> None:
        address, count = logicals.buffer_info()
        self._library.flash_overwrite(
            self._flash, ctypes.c_void_p(address), ctypes.c_int64(count), stream
        )

    def replay(self, events: array[int], streams: bytes, unit: int) -> None:
        address, count = events.buffer_info()
        self._library.flash_replay(
            self._flash,
            ctypes.c_void_p(address),
            ctypes.c_int64(count),
            streams,
            unit,
        )

    def counters(self) -> Counters:
        streams = self._geometry.streams
        found = (ctypes.c_int64 * (2 + 2 * streams))()
        self._library.flash_counters(self._flash, found)
        host = found[2 : 2 + streams]
        nand = found[2 + streams :]
        return Counters(found[0], found[1], tuple(host), tuple(nand))

    def state(self) -> State:
        place = (ctypes.c_int32 * self._geometry.logical)()
        valid = (ctypes.c_int32 * self._geometry.blocks)()
        self._library.flash_state(self._flash, place, valid)
        return State(list(place), list(valid))


@cache
def _library() -> Any:
    """None where it was not built, or for another system or version."""
    for path in _built():
        try:
            library = ctypes.CDLL(str(path))
            if library.flash_version() == VERSION:
                library.flash_new.restype = ctypes.c_void_p
                return library
        except (OSError, AttributeError):
            continue
    return None


def _built() -> Iterable[Path]:
    return sorted(Path(__file__).parent.glob("_flash*.so"))
