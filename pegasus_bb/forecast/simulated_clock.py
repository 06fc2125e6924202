"""A discrete-event simulation: the clock, processes, and the slots they wait for."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Generator, Sequence
from heapq import heappop, heappush
from typing import Protocol

_NEVER = math.inf


class Sleeper(Protocol):
    """An object that an alarm wakes."""

    def wake(self, alarm: int) -> None:
        """Wake it. ``alarm`` is its number: a sleeper ignores one that it no longer
        expects."""


class Wait(Protocol):
    """An object that a process can wait for, besides seconds."""

    def wait(self, process: Process) -> None:
        """Call ``process.resume()`` later, once, unless ``cancel`` comes first."""

    def cancel(self, process: Process) -> None:
        """Forget the process, which has been ended. What it waited for may have come in
        this very moment; then the process has not seen it yet."""


Steps = Generator[float | Wait, None, None]


class Simulation:
    """A clock and its events; ``now`` is in seconds since the start."""

    def __init__(self) -> None:
        self.now = 0.0
        self._heap: list[tuple[float, int, Sleeper]] = []
        self.ready: deque[Process] = deque()  # what they waited for has come
        self._alarms = 0  # set so far: of two at one time the earlier set comes first

    def alarm(self, time: float, sleeper: Sleeper) -> int:
        """Wake ``sleeper`` at ``time``; return the alarm's number."""
        number = self._alarms = self._alarms + 1
        heappush(self._heap, (time, number, sleeper))
        return number

    def start(self, steps: Steps) -> Process:
        """Start a process; it makes its first step at once."""
        process = Process(self, steps)
        process.step()
        return process

    def run(self, until: float = math.inf) -> None:
        """Run all events up to ``until``; without it, until none is left."""
        heap = self._heap
        ready = self.ready
        while True:
            while ready:
                ready.popleft().step()
            if not heap or heap[0][0] > until:
                break
            self.now, alarm, sleeper = heappop(heap)
            sleeper.wake(alarm)
        if until < math.inf:
            self.now = until


class Process:
    """Steps that wait for each other. It can be waited for until it is over."""

    __slots__ = (
        "_alarm",
        "_simulation",
        "_steps",
        "_waits_for",
        "_watchers",
        "is_over",
    )

    def __init__(self, simulation: Simulation, steps: Steps) -> None:
        self._simulation, self._steps = simulation, steps
        self._alarm = 0
        self._waits_for: Wait | None = None
        self._watchers: Sequence[Process] = ()
        self.is_over = False

    def resume(self) -> None:
        """Continue it: what it waited for has come. The caller ends its own step first,
        and processes that were ready before come first."""
        self._simulation.ready.append(self)

    def step(self) -> None:
        if self.is_over:  # it was ended when it was ready
            return
        self._waits_for = None
        try:
            wanted = next(self._steps)
        except StopIteration:
            self._end()
            return
        if isinstance(wanted, (float, int)):
            if not 0 <= wanted < _NEVER:
                raise ValueError(f"a process cannot wait for {wanted} s")
            simulation = self._simulation
            self._alarm = simulation.alarm(simulation.now + wanted, self)
        else:
            self._waits_for = wanted
            wanted.wait(self)

    def wake(self, alarm: int) -> None:
        if alarm == self._alarm:
            self.step()

    def end(self) -> None:
        """End it here: it waits for nothing more, its ``finally`` blocks run."""
        if self.is_over:
            return
        if self._waits_for is not None:
            self._waits_for.cancel(self)
        self._steps.close()
        self._end()

    def wait(self, process: Process) -> None:
        if self.is_over:
            process.resume()
        else:
            self._watchers = [*self._watchers, process]

    def cancel(self, process: Process) -> None:
        self._watchers = [each for each in self._watchers if each is not process]

    def _end(self) -> None:
        self.is_over, self._waits_for, self._alarm = True, None, 0
        watchers, self._watchers = self._watchers, ()
        for process in watchers:
            process.resume()


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
