"""Processors and nodes: a number of equal slots, given in the order of asking."""

from __future__ import annotations

from collections import deque

from pegasus_bb.forecast.kernel import Process


class Slots:
    def __init__(self, count: int) -> None:
        self.free = count
        self._queue: deque[SlotRequest] = deque()

    def take(self, count: int = 1) -> SlotRequest:
        """Wait until so many are free and every earlier wish is served."""
        return SlotRequest(self, count)

    def give(self, count: int = 1) -> None:
        self.free += count
        self._serve()

    def enter(self, turn: SlotRequest) -> None:
        self._queue.append(turn)
        self._serve()

    def leave(self, turn: SlotRequest) -> None:
        if turn.has_come:
            self.give(turn.count)
        else:
            self._queue.remove(turn)
            self._serve()

    def _serve(self) -> None:
        while self._queue and self._queue[0].count <= self.free:
            turn = self._queue.popleft()
            self.free -= turn.count
            turn.has_come = True
            turn.process.resume()


class SlotRequest:
    __slots__ = ("_slots", "count", "has_come", "process")

    def __init__(self, slots: Slots, count: int) -> None:
        self._slots, self.count, self.has_come = slots, count, False
        self.process: Process

    def wait(self, process: Process) -> None:
        self.process = process
        self._slots.enter(self)

    def cancel(self, process: Process) -> None:
        self._slots.leave(self)
