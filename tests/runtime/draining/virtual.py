"""A clock that moves only when a process sleeps. Processes take turns by it."""

from __future__ import annotations

import heapq
from collections.abc import Generator

Steps = Generator[float, None, None]  # seconds to sleep


class Clock:
    def __init__(self, now: float = 1e9) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def play(clock: Clock, processes: list[Steps], end: float = 1e12) -> None:
    """Run all of them side by side until they have ended, or until ``end``."""
    heap = [(clock.now, number) for number in range(len(processes))]
    while heap:
        now, number = heapq.heappop(heap)
        if now > end:
            return
        clock.now = now
        try:
            wait = next(processes[number])
        except StopIteration:
            continue
        heapq.heappush(heap, (now + wait, number))
