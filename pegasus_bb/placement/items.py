"""Files that compete for room, and the room that is left in each period."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Item:
    """A file that may stay or go."""

    name: str
    size: int  # bytes
    benefit: int  # bytes that tasks read and write
    first: int  # period, counted from 0
    last: int

    def periods(self, counted: Sequence[int]) -> int:
        """In how many periods it lives, of those that are ``counted``: so many before
        each period."""
        return counted[self.last + 1] - counted[self.first]

    def density(self, counted: Sequence[int]) -> float:
        """Benefit for each byte in each of these periods."""
        cost = self.size * self.periods(counted)
        return self.benefit / cost if cost else float("inf")


class Space:
    """Room by period: the least in a range of periods, and taking some from all of
    them, each in O(log n). A tree, the root is 1, below n are 2n and 2n + 1."""

    def __init__(self, room: Sequence[int]) -> None:
        self._leaves = 1 << max(len(room) - 1, 0).bit_length()
        spare = [0] * (self._leaves - len(room))
        self._least = [*([0] * self._leaves), *room, *spare]
        self._more = [0] * self._leaves  # for every leaf below, beside its own figure
        for node in range(self._leaves - 1, 0, -1):
            self._least[node] = min(self._least[2 * node], self._least[2 * node + 1])

    def take(self, item: Item, times: int) -> None:
        """Less room where the item lives; ``times`` is -1 to give it back."""
        amount = -item.size * times
        low, high = item.first + self._leaves, item.last + self._leaves
        self._add(low, amount)
        if high != low:
            self._add(high, amount)
        while low >> 1 != high >> 1:
            if not low & 1:
                self._add(low + 1, amount)
            if high & 1:
                self._add(high - 1, amount)
            low, high = low >> 1, high >> 1
            self._renew(low)
            self._renew(high)
        while low > 1:
            low >>= 1
            self._renew(low)

    def fits(self, item: Item) -> bool:
        """Whether every period that the item lives in has room for it."""
        least, more = self._least, self._more
        low, high = item.first + self._leaves, item.last + self._leaves
        left, right = least[low], least[high]
        while low >> 1 != high >> 1:
            if not low & 1 and least[low + 1] < left:
                left = least[low + 1]
            if high & 1 and least[high - 1] < right:
                right = least[high - 1]
            low, high = low >> 1, high >> 1
            left, right = left + more[low], right + more[high]
        found = min(left, right)
        while low > 1:
            low >>= 1
            found += more[low]
        return found >= item.size

    def _add(self, node: int, amount: int) -> None:
        self._least[node] += amount
        if node < self._leaves:
            self._more[node] += amount

    def _renew(self, node: int) -> None:
        below = min(self._least[2 * node], self._least[2 * node + 1])
        self._least[node] = below + self._more[node]
