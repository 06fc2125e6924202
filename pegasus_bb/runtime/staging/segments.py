"""Copies in segments, each of which is durable before the next begins.

Such a copy has the rate of the disk. Without a sync per segment, the page cache would
take all data at once and write it out in bursts.
"""

from __future__ import annotations

from contextlib import AbstractContextManager


class Segments:
    """Decides the size of segments and when each may be written. Thread-safe."""

    @property
    def size(self) -> int:
        """Bytes of the next segment, which may vary."""
        raise NotImplementedError

    def take(self, size: int) -> AbstractContextManager[None]:
        """A context for writing ``size`` bytes. Entering it waits for their turn; leave
        it when they are durable."""
        raise NotImplementedError

    def stop(self) -> None:
        """Abort the copy: from now on nothing waits."""
        raise NotImplementedError
