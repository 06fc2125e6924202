"""Storage that many use at once: a server shares its time fairly between requests.

The server is kept in virtual time. A request knows the virtual time at which it ends;
a start or an end changes how fast virtual time goes, and no other request. An event
costs O(log n) for n requests.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

from pegasus_bb.simulation.kernel import Process, Simulation


class Server:
    """Its time is 1 in all. ``lanes`` are the kinds of work that it does."""

    def __init__(self, simulation: Simulation, lanes: Sequence[Lane]) -> None:
        self.lanes = lanes
        self._simulation = simulation
        self._since = 0.0  # the shares of the lanes hold since then
        self._alarm, self._next = 0, lanes[0]
        for lane in lanes:
            lane.server = self

    def change(self) -> None:
        """Work came or went: shares the time anew, sets the alarm of the next end."""
        self._share()
        soonest, now = math.inf, self._simulation.now
        for lane in self.lanes:
            seconds = lane.seconds_left()
            if seconds < soonest:
                soonest, self._next = seconds, lane
        self._alarm = 0
        if soonest < math.inf:
            self._alarm = self._simulation.alarm(now + soonest, self)

    def wake(self, alarm: int) -> None:
        if alarm != self._alarm:
            return
        self.advance()
        done = self._next.finished()
        self.change()
        for process in done:
            process.go_on()

    def advance(self) -> None:
        """Brings the virtual time of every lane up to now."""
        seconds = self._simulation.now - self._since
        if seconds > 0:
            for lane in self.lanes:
                lane.virtual += seconds * lane.share
        self._since = self._simulation.now

    def _share(self) -> None:
        """Max-min fair: a lane whose requests cannot use an equal share leaves the rest
        to the others."""
        free, count = 1.0, sum(lane.count for lane in self.lanes)
        for lane in sorted(self.lanes, key=lambda lane: lane.most):
            if lane.count:
                lane.share = min(lane.most, free / count)
                free -= lane.share * lane.count
                count -= lane.count


class Lane:
    """One kind of work of a server: reading, writing, or operations.

    ``whole`` is how many units a second the server does of it if it does nothing else,
    ``alone`` how many it does at most for one request. Units are bytes or operations.
    """

    def __init__(self, whole: float, alone: float = math.inf) -> None:
        self.whole = whole
        self.most = min(alone / whole, 1.0)  # of the server's time, for one request
        self.share = self.most  # that each request has now
        self.count = 0  # of requests at work
        self.virtual = 0.0  # seconds of the server that each request has had
        self.server: Server
        self._heap: list[tuple[float, int, Request]] = []
        self._requests = 0

    def request(self, units: float, count: int = 1) -> Request:
        """``count`` requests of ``units`` each, which start and end together."""
        return Request(self, units, count)

    def enter(self, request: Request) -> None:
        self.server.advance()
        if not self.count:
            self.virtual = 0.0
        self._requests += 1
        ends = self.virtual + request.units / self.whole
        heappush(self._heap, (ends, self._requests, request))
        self.count += request.count
        self.server.change()

    def leave(self, request: Request) -> None:
        self.server.advance()
        self.count -= request.count
        self.server.change()

    def seconds_left(self) -> float:
        """Until the first request ends, if nothing changes."""
        heap = self._heap
        while heap and heap[0][2].process is None:  # it was cancelled
            heappop(heap)
        return max(0.0, heap[0][0] - self.virtual) / self.share if heap else math.inf

    def finished(self) -> Iterable[Process]:
        """The first request is done, and all that end with it."""
        heap, done = self._heap, []
        self.virtual = max(self.virtual, heap[0][0])
        while heap and heap[0][0] <= self.virtual:
            request = heappop(heap)[2]
            if request.process is not None:
                self.count -= request.count
                done.append(request.process)
                request.process = None
        return done


class Request:
    """A share of a server until ``units`` are done."""

    __slots__ = ("_lane", "count", "process", "units")

    def __init__(self, lane: Lane, units: float, count: int) -> None:
        self._lane, self.units, self.count = lane, units, count
        self.process: Process | None = None  # that waits; None: done or cancelled

    def wait(self, process: Process) -> None:
        self.process = process
        self._lane.enter(self)

    def cancel(self, process: Process) -> None:
        self.process = None
        self._lane.leave(self)
