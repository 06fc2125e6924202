"""Which job starts next: priority first, within what slots and categories allow."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappop, heappush

from pegasus_bb.engine.table import Item

Entry = tuple[int, int, Item]  # the higher priority first, then the order of the file

# Jobs of universe local take no slot; the machine is still not to be overrun.
LOCAL_JOBS = 20


class Queues:
    """Jobs that are ready. A job beyond its category's limit lies in the category's
    own heap, so that nothing is looked at twice."""

    def __init__(self, slots: int, limits: Mapping[str, int]) -> None:
        self._slots = {False: slots, True: LOCAL_JOBS}  # by: is a local job
        self._ready: dict[bool, list[Entry]] = {False: [], True: []}
        self._limits = limits
        self._used: dict[str, int] = {}
        self._held: dict[str, list[Entry]] = {}

    def push(self, item: Item) -> None:
        """``item``'s job may start."""
        self._admit((-item.node.priority, item.order, item))

    def pop(self) -> Item | None:
        """The job to start now, or None; ``ended`` must be called for it later."""
        for local, heap in self._ready.items():
            if heap and self._slots[local]:
                self._slots[local] -= 1
                return heappop(heap)[2]
        return None

    def ended(self, item: Item) -> None:
        """The job of ``item`` is over: its slot and its category's place are free."""
        self._slots[item.local] += 1
        category = item.node.category
        if category in self._limits:
            self._used[category] -= 1
            if self._held.get(category):
                self._admit(heappop(self._held[category]))

    def _admit(self, entry: Entry) -> None:
        item = entry[2]
        category = item.node.category
        if category in self._limits:
            used = self._used.get(category, 0)
            if used >= self._limits[category]:
                heappush(self._held.setdefault(category, []), entry)
                return
            self._used[category] = used + 1
        heappush(self._ready[item.local], entry)
