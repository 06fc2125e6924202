"""Koo et al.'s algorithm 1: a key, there the user, keeps its stream while it writes."""

from __future__ import annotations

from collections.abc import Hashable

_OPENS = 1000  # between two looks for unused keys; ours, the paper has none


class StreamTable:
    def __init__(self, streams: int) -> None:
        self._keys = [0] * streams  # of each stream
        self._table: dict[Hashable, int] = {}
        self._seen: dict[Hashable, None] = {}  # since the last look
        self._opens = 0

    def open(self, key: Hashable) -> int:
        """The stream for a file that is opened: an idle one, or the least used."""
        stream = self._table.get(key)
        if stream is None:
            stream = self._keys.index(min(self._keys))
            self._keys[stream] += 1
            self._table[key] = stream
        self._seen[key] = None
        self._opens += 1
        if self._opens > _OPENS:
            self._retrieve()
        return stream

    def _retrieve(self) -> None:
        for key in [key for key in self._table if key not in self._seen]:
            self._keys[self._table.pop(key)] -= 1
        self._seen.clear()
        self._opens = 0
