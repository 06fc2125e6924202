"""How many blocks and pages a simulated device has."""

from __future__ import annotations

from typing import NamedTuple


class Geometry(NamedTuple):
    """``spare_blocks`` is above zero where garbage collection always finds a page."""

    blocks: int
    pages: int  # of a block
    logical: int  # pages that the host sees
    streams: int
    trim: bool  # whether the device hears of deleted files

    @property
    def spare_blocks(self) -> int:
        """Beyond the host's pages, the open blocks (two of each stream), and the free
        one of the collection."""
        return self.blocks - 2 * self.streams - 1 - -(-self.logical // self.pages)
