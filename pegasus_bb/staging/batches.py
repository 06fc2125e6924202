"""A batch of files on its way, and who copies it."""

from __future__ import annotations

from typing import Any, List, Sequence, Union

from pegasus_bb.staging.failures import CopyFailed
from pegasus_bb.staging.items import Item, Landed
from pegasus_bb.staging.moves import Tell


class Elsewhere:
    """The answer for a file that goes on its way by itself, in a batch of its own."""


Answer = Union[Landed, CopyFailed, Elsewhere]


class Batch:
    """Items that one call copies, and that one syncfs makes durable."""

    def __init__(self, items: Sequence[Item], copier: Copier) -> None:
        self.items, self.copier = items, copier
        self.results: Any = None  # what the copier keeps from copying to renaming


class Copier:
    """Brings files to temporary names and, once those are durable, to their own.

    Nothing is raised for a file: what became of it is in its answer. Several threads
    use one.
    """

    limit = 0  # bytes of the largest file that it takes

    def copy(self, batch: Batch, tag: str, follow: bool, tell: Tell) -> None:
        """Copy every item to its temporary name."""
        raise NotImplementedError

    def changed(self, batch: Batch) -> List[Item]:
        """Those that were not what they were thought to be, or did not stay so."""
        return []

    def rename(self, batch: Batch, tag: str) -> List[Answer]:
        """Give all that were copied their names; what became of each, in order."""
        raise NotImplementedError
