"""Copies that go in segments, each durable before the next is asked for.

The rate of such a copy is the disk's. Without a sync for each, the page cache takes all
at once and writes it out in bursts of its own.
"""

from __future__ import annotations

from typing import ContextManager


class Segments:
    """Says how large a segment is, and when each may go. Several threads ask it."""

    @property
    def size(self) -> int:
        """Bytes of the next segment. It may change from one to the next."""
        raise NotImplementedError

    def take(self, size: int) -> ContextManager[None]:
        """Enter it before ``size`` bytes are written: it waits for their turn. Leave it
        when they are durable."""
        raise NotImplementedError

    def stop(self) -> None:
        """The copy is given up: from now on nothing waits."""
        raise NotImplementedError
