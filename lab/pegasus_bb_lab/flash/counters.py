"""What both kernels say of a device."""

from __future__ import annotations

from typing import NamedTuple


class Counters(NamedTuple):
    """Since the device was new. ``host`` and ``nand`` have a number for each stream."""

    erased: int  # blocks
    refused: int  # pages: the device was full
    host: tuple[int, ...]  # pages that the host wrote
    nand: tuple[int, ...]  # pages written to flash: the host's, and copies


class State(NamedTuple):
    place: list[int]  # the physical page of each logical one; -1: none
    valid: list[int]  # the valid pages of each block
