"""A page-mapped flash translation layer in Python: what _flash.c does, to the page.

It is some twenty times slower. kernel.py takes it where nothing was compiled.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Sequence

from pegasus_bb_lab.flash.counters import Counters, State
from pegasus_bb_lab.flash.geometry import Geometry

_NONE = -1
_RESERVE = 1  # free blocks that only garbage collection may take


class Plain:
    """See `kernel.Kernel`."""

    def __init__(self, geometry: Geometry, files: int) -> None:
        self._geometry = geometry
        blocks, pages, logical, streams, _ = geometry
        self._place = array("i", [_NONE]) * logical
        self._holds = array("i", [_NONE]) * (blocks * pages)
        self._valid = [0] * blocks
        self._owner = [0] * blocks
        self._closed = [False] * blocks
        # Closed blocks by valid pages; the one that came last is collected first.
        self._lists: list[dict[int, None]] = [{} for _ in range(pages + 1)]
        self._least = pages
        self._empty = list(range(blocks))[::-1]
        self._open = [_NONE] * (2 * streams)
        self._used = [0] * (2 * streams)
        self._files: list[list[int]] = [[] for _ in range(files)]
        self._unused = deque(range(logical))
        self._host = [0] * streams
        self._nand = [0] * streams
        self._erased = self._refused = 0

    def overwrite(self, logicals: Iterable[int], stream: int) -> None:
        for logical in logicals:
            self._write(logical, stream)

    def replay(self, events: Sequence[int], streams: bytes, unit: int) -> None:
        for event in events:
            if event < 0:
                self._discard(-event - 1)
                continue
            for _ in range(unit):
                self._append(event, streams[event])

    def counters(self) -> Counters:
        host = tuple(self._host)
        nand = tuple(self._nand)
        return Counters(self._erased, self._refused, host, nand)

    def state(self) -> State:
        return State(list(self._place), list(self._valid))

    def _append(self, file: int, stream: int) -> None:
        if not self._unused:
            self._refused += 1
            return
        logical = self._unused.popleft()
        self._files[file].append(logical)
        self._write(logical, stream)

    def _discard(self, file: int) -> None:
        for logical in reversed(self._files[file]):
            self._unused.append(logical)
            if self._geometry.trim:
                self._invalidate(logical)
        self._files[file] = []

    def _write(self, logical: int, stream: int) -> None:
        self._invalidate(logical)
        if self._open[2 * stream] == _NONE:
            while len(self._empty) <= _RESERVE:
                self._collect()
        self._put(logical, 2 * stream)
        self._host[stream] += 1

    def _invalidate(self, logical: int) -> None:
        physical = self._place[logical]
        if physical == _NONE:
            return
        block = physical // self._geometry.pages
        self._place[logical] = self._holds[physical] = _NONE
        if self._closed[block]:
            del self._lists[self._valid[block]][block]
        self._valid[block] -= 1
        if self._closed[block]:
            self._enlist(block)

    def _enlist(self, block: int) -> None:
        valid = self._valid[block]
        self._lists[valid][block] = None
        self._least = min(self._least, valid)

    def _put(self, logical: int, frontier: int) -> None:
        stream = frontier // 2
        block = self._open[frontier]
        if block == _NONE:
            block = self._open[frontier] = self._empty.pop()
            self._owner[block] = stream
            self._used[frontier] = 0
        physical = block * self._geometry.pages + self._used[frontier]
        self._place[logical], self._holds[physical] = physical, logical
        self._valid[block] += 1
        self._nand[stream] += 1
        self._used[frontier] += 1
        if self._used[frontier] == self._geometry.pages:
            self._closed[block] = True
            self._enlist(block)
            self._open[frontier] = _NONE

    def _collect(self) -> None:
        while not self._lists[self._least]:
            self._least += 1
        block, _ = self._lists[self._least].popitem()
        begin = block * self._geometry.pages
        for physical in range(begin, begin + self._geometry.pages):
            logical = self._holds[physical]
            if logical != _NONE:
                self._holds[physical] = _NONE
                self._put(logical, 2 * self._owner[block] + 1)
        self._valid[block], self._closed[block] = 0, False
        self._empty.append(block)
        self._erased += 1
