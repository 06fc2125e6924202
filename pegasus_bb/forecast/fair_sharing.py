"""Storage that many use at once: a server shares its time fairly between requests.

As long as all requests together cannot use the whole server, none feels another: each
has an alarm at its end. Else the server is kept in virtual time. A request knows the
virtual time at which it ends; a start or an end changes how fast virtual time goes, and
no other request. An event costs O(log n) for n requests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from heapq import heappop, heappush

from pegasus_bb.forecast.simulated_clock import Process, Simulation

_MANY = 1e9  # requests at once that a server without a limit of its own can do


class SharedServer:
    """A server whose time is 1 in all. ``lanes`` are the kinds of work that it does."""

    def __init__(self, simulation: Simulation, lanes: Sequence[Lane]) -> None:
        self.lanes = sorted(lanes, key=lambda lane: lane.most)
        self.simulation = simulation
        self.unshared: dict[
            ServerShare, float
        ] = {}  # with an alarm of its own -> its end
        self.is_shared = False  # in virtual time, until no request is left
        self._since = 0.0  # the shares of the lanes hold since then
        self._requests = 0
        self._due, self._next = math.inf, [self.lanes[0]]  # which ends next, and when
        self._alarm, self._alarm_at = 0, math.inf
        for lane in lanes:
            lane.server = self

    def enter(self, request: ServerShare) -> None:
        lane = request.lane
        if not self.is_shared:
            self._begin_to_share()
        self._advance()
        self._add(request, request.units / lane.whole)
        self._change()

    def leave(self, request: ServerShare) -> None:
        if not self.is_shared:
            del self.unshared[request]
            request.lane.count -= request.count
            return
        self._advance()
        request.lane.count -= request.count
        self._change()

    def wake(self, alarm: int) -> None:
        if alarm != self._alarm:
            return
        self._alarm, self._alarm_at = 0, math.inf
        if self._due > self.simulation.now:  # more work came after it was set
            self._set_alarm()
            return
        self._advance()
        done = self._next[0].finished()
        for lane in self._next[1:]:
            done += lane.finished()
        self._change()
        if len(done) > 1:
            done.sort()
        for _, process in done:
            process.resume()

    def _begin_to_share(self) -> None:
        """Give every request a virtual time in the place of its alarm."""
        now, self._since = self.simulation.now, self.simulation.now
        self.is_shared = True
        for lane in self.lanes:
            lane.count = 0
        for request, due in self.unshared.items():
            request.alarm = 0
            self._add(request, (due - now) * request.lane.most)
        self.unshared.clear()

    def _add(self, request: ServerShare, seconds: float) -> None:
        """Add a request that has still to get ``seconds`` of the server."""
        self._requests += 1
        request.lane.add(request, self._requests, seconds)

    def _advance(self) -> None:
        """Bring the virtual time of every lane up to now."""
        now = self.simulation.now
        seconds = now - self._since
        if seconds > 0:
            for lane in self.lanes:
                lane.virtual += seconds * lane.share
            self._since = now

    def _change(self) -> None:
        """Share the time anew after work came or went, and find out what ends next."""
        self.share_time()
        soonest = math.inf
        for lane in self.lanes:
            if lane.count:
                seconds = lane.seconds_left()
                if seconds < soonest:
                    soonest, self._next = seconds, [lane]
                elif seconds == soonest:
                    self._next.append(lane)
        self._due = self.simulation.now + soonest
        self.is_shared = soonest < math.inf
        if self._due < self._alarm_at:  # an alarm that comes too early is set again
            self._set_alarm()

    def share_time(self) -> None:
        """Give each lane its max-min fair share, as ``stager.forecast`` defines it. One
        pass, because each event needs it: a lane whose requests cannot use an equal
        share leaves the rest to the others."""
        free = 1.0
        count = 0
        equal = 0.0
        for lane in self.lanes:
            count += lane.count
        for lane in self.lanes:  # those that can use the least come first
            if not lane.count:
                continue
            equal = equal or free / count
            if lane.most >= equal:
                lane.share = equal  # and so have all that follow
                continue
            lane.share, equal = lane.most, 0.0
            free -= lane.most * lane.count
            count -= lane.count

    def _set_alarm(self) -> None:
        if self._due < math.inf:
            self._alarm_at = self._due
            self._alarm = self.simulation.alarm(self._due, self)


class Lane:
    """One kind of work of a server: reading, writing, or operations.

    ``whole`` is how many units a second the server does of it if it does nothing else,
    ``alone`` how many it does at most for one request. Units are bytes or operations.
    """

    def __init__(self, whole: float, alone: float = math.inf) -> None:
        if not (whole > 0 and alone > 0):
            raise ValueError(f"no work of {whole}/s, {alone}/s of one request, ends")
        if math.isinf(whole):  # many requests do not hinder each other
            whole = alone * _MANY
        self.whole = whole
        self.alone = min(alone, whole)
        # Of the server's time, for one request.
        self.most = alone / whole if alone < whole else 1.0
        self.share = self.most  # that each request has now
        self.count = 0  # of requests at work
        self.virtual = 0.0  # seconds of the server that each request has had
        self.server: SharedServer
        self._heap: list[tuple[float, int, ServerShare]] = []

    def request(self, units: float, count: int = 1) -> ServerShare:
        """Make ``count`` requests of ``units`` each, which start and end together."""
        return ServerShare(self, units, count)

    def add(self, request: ServerShare, number: int, seconds: float) -> None:
        if not self.count:
            self.virtual = 0.0
            self._heap.clear()  # what was cancelled
        heappush(self._heap, (self.virtual + seconds, number, request))
        self.count += request.count

    def seconds_left(self) -> float:
        """Return the seconds until the first of its requests ends, if nothing
        changes."""
        heap = self._heap
        while heap[0][2].process is None:  # it was cancelled
            heappop(heap)
        left = heap[0][0] - self.virtual
        return left / self.share if left > 0 else 0.0

    def finished(self) -> list[tuple[int, Process]]:
        """End the first request, and all that end with it; return their numbers and
        processes."""
        heap: list[tuple[float, int, ServerShare]] = self._heap
        done: list[tuple[int, Process]] = []
        if heap[0][0] > self.virtual:
            self.virtual = heap[0][0]
        while heap and heap[0][0] <= self.virtual:
            _, number, request = heappop(heap)
            if request.process is not None:
                self.count -= request.count
                done.append((number, request.process))
                request.process = None
        return done


class ServerShare:
    """A share of a server until ``units`` are done."""

    __slots__ = ("alarm", "count", "lane", "process", "units")

    def __init__(self, lane: Lane, units: float, count: int = 1) -> None:
        if not (0 <= units < math.inf and count > 0):
            raise ValueError(f"a server cannot do {count} requests of {units}")
        self.lane, self.units, self.count = lane, units, count
        self.alarm = 0  # at its end, as long as no other request slows it down
        self.process: Process | None = None  # that waits; None: done or cancelled

    def wait(self, process: Process) -> None:
        """Enter the server. As long as all can have what they want, that is an alarm:
        here, because each event needs it."""
        self.process = process
        lane = self.lane
        server = lane.server
        if server.is_shared:
            server.enter(self)
            return
        load = self.count * lane.most
        for each in server.lanes:
            if each.count:
                load += each.count * each.most
        if load > 1.0:
            server.enter(self)
            return
        lane.count += self.count
        simulation = server.simulation
        due = server.unshared[self] = simulation.now + self.units / lane.alone
        self.alarm = simulation.alarm(due, self)

    def wake(self, alarm: int) -> None:
        process = self.process
        if alarm == self.alarm and process is not None:  # the server is not shared
            self.process = None
            del self.lane.server.unshared[self]
            self.lane.count -= self.count
            process.resume()

    def cancel(self, process: Process) -> None:
        if self.process is not None:
            self.process = None
            self.lane.server.leave(self)
