"""The storage of a site, as servers: each place has one for bytes and one for calls."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import cast

from pegasus_bb.forecast.fair_sharing import Lane, ServerShare, SharedServer
from pegasus_bb.forecast.simulated_clock import Process, Simulation, Steps
from pegasus_bb.forecast.workflow.work import THREADS, StorageCopy
from pegasus_bb.model.speeds import Speed


class SharedStorage:
    """A place whose readers and writers share its time."""

    def __init__(self, simulation: Simulation, speed: Speed) -> None:
        self.latency = speed.latency
        self.per_node = speed.per_node
        self.reading = Lane(speed.read, speed.job_read)
        self.writing = Lane(speed.write, speed.job_write)
        SharedServer(simulation, [self.reading, self.writing])
        self.calls: Lane | None = None  # None: their rate is unknown, and left out
        if math.isfinite(speed.job_ops):
            self.calls = Lane(speed.ops, speed.job_ops)
            SharedServer(simulation, [self.calls])

    def request(self, lane: Lane, amount: float, jobs: int, nodes: int) -> ServerShare:
        """What ``jobs`` ask for, each on so many nodes."""
        width = nodes if self.per_node else 1
        return ServerShare(lane, amount / width, jobs * width)


class Storage:
    def __init__(self, simulation: Simulation, speeds: Iterable[Speed]) -> None:
        self.places = [SharedStorage(simulation, speed) for speed in speeds]

    def copy(
        self,
        copy: StorageCopy,
        *,
        by_threads: bool = False,
        jobs: int = 1,
        before: float = 0.0,
    ) -> Steps:
        """Read and write at the same time; the slower end decides. ``jobs`` do the same
        at the same time. ``before``: seconds until it begins."""
        source = self.places[copy.source]
        dest = self.places[copy.dest]
        width = max(1, min(THREADS, copy.files)) if by_threads else 1
        opening = copy.files * (source.latency + dest.latency) / width
        if before := before + opening:
            yield before
        for place in (source, dest) if copy.files else ():
            if place.calls is not None:
                yield ServerShare(place.calls, copy.files / width, width * jobs)
        together = copy.size - copy.longest if width > 1 else 0  # bytes of each thread
        for size, count in ((together, width), (copy.size - width * together, 1)):
            if size:
                yield Both(
                    ServerShare(source.reading, size, count * jobs),
                    ServerShare(dest.writing, size, count * jobs),
                )


class Both:
    """Wait for two shares of servers at the same time."""

    __slots__ = ("_left", "_process", "_requests")

    def __init__(self, one: ServerShare, other: ServerShare) -> None:
        self._requests = one, other
        self._left = 2

    def wait(self, process: Process) -> None:
        self._process = process
        for request in self._requests:
            request.wait(cast("Process", self))  # a server calls resume, and no more

    def cancel(self, process: Process) -> None:
        for request in self._requests:
            request.cancel(process)

    def resume(self) -> None:
        self._left -= 1
        if not self._left:
            self._process.resume()
