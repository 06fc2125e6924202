"""Many equal servers side by side: thousands of requests as a few NumPy arrays.

Each is a SharedServer of ``pegasus_bb.forecast.fair_sharing``; a test holds them
equal. No
server depends on another, so each can be followed to the end of its requests on its own
clock, and only the end of a whole transfer is an event.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pegasus_bb.forecast.simulated_clock import Process, Simulation
from pegasus_bb_lab.mix.stripes import Counts

Floats = NDArray[np.float64]
_ROUNDING = 1 + 1e-12


class SharedServers:
    """``count`` servers. ``lanes`` are (units a second of one whole server, most of one
    request), for each kind of work."""

    def __init__(
        self, simulation: Simulation, count: int, lanes: Sequence[tuple[float, float]]
    ) -> None:
        self.count = count
        self._simulation = simulation
        self._whole = [whole for whole, _ in lanes]
        self._most = np.array([min(1.0, alone / whole) for whole, alone in lanes])
        self._by_most = np.argsort(self._most, kind="stable").tolist()
        self._since = 0.0  # the requests have left so much since then
        self._transfers: list[Transfer] = []
        self._alarm = 0

    def transfer(self, lane: int, units: float, counts: Counts) -> Transfer:
        """``counts`` requests on each server, of ``units`` each: to be waited for."""
        return Transfer(self, lane, units / self._whole[lane], counts)

    def load(self) -> Counts:
        """Requests on each server that have not ended."""
        found = np.zeros(self.count, np.int64)
        self._advance()
        for each in self._transfers:
            found += np.where(each.left > 0, each.counts, 0)
        return found

    def enter(self, transfer: Transfer) -> None:
        self._advance()
        self._transfers.append(transfer)
        self._foresee()

    def leave(self, transfer: Transfer) -> None:
        self._advance()
        self._transfers.remove(transfer)
        self._foresee()

    def wake(self, alarm: int) -> None:
        if alarm != self._alarm:
            return
        now = self._simulation.now
        self._advance()
        done = [each for each in self._transfers if each.ends <= now]
        self._transfers = [each for each in self._transfers if each.ends > now]
        self._set_alarm()  # they were done: the ends of the others stay as they are
        for transfer in done:
            transfer.finish()

    def _advance(self) -> None:
        """Brings what is left of all requests up to now."""
        seconds = self._simulation.now - self._since
        self._since = self._simulation.now
        if seconds > 0 and self._transfers:
            left, _ = self._follow(seconds)
            for each, row in zip(self._transfers, left, strict=True):
                each.left = row

    def _foresee(self) -> None:
        """When each transfer ends if nothing else comes."""
        if self._transfers:
            _, ends = self._follow(math.inf)
            for each, seconds in zip(self._transfers, ends.max(axis=1), strict=True):
                each.ends = self._since + float(seconds)
        self._set_alarm()

    def _set_alarm(self) -> None:
        self._alarm = 0
        if self._transfers:
            soonest = min(each.ends for each in self._transfers)
            self._alarm = self._simulation.alarm(soonest, self)

    def _follow(self, until: float) -> tuple[Floats, Floats]:
        """What is left of each request after ``until`` seconds, and when it ends. One
        round takes every server to the next end of one of its requests."""
        left = np.stack([each.left for each in self._transfers])
        counts = np.stack([each.counts for each in self._transfers])
        lanes = [each.lane for each in self._transfers]
        clock = np.zeros(self.count)
        ends = np.zeros_like(left)
        for _ in self._transfers:
            share = self._shares(np.where(left > 0, counts, 0), lanes)
            with np.errstate(divide="ignore", invalid="ignore"):
                needs = np.where(left > 0, left / share, np.inf)
            step = np.minimum(needs.min(axis=0), until - clock)
            step[np.isinf(step)] = 0.0  # nothing is left there
            done = (left > 0) & (needs <= step * _ROUNDING)
            clock += step
            left = np.where(done, 0.0, np.maximum(left - step * share, 0.0))
            ends[done] = np.broadcast_to(clock, left.shape)[done]
        return left, ends

    def _shares(self, active: Counts, lanes: list[int]) -> Floats:
        """Return the max-min fair share of each request, as ``SharedServer.share_time``
        does; here for all servers at once, in NumPy."""
        free = np.ones(self.count)
        count = active.sum(axis=0)
        share = np.zeros(active.shape)
        for lane in self._by_most:
            rows = [row for row, each in enumerate(lanes) if each == lane]
            if rows:
                own = active[rows].sum(axis=0)
                each = np.minimum(self._most[lane], free / np.maximum(count, 1))
                share[rows] = each
                free = free - each * own
                count = count - own
        return share


class Transfer:
    """Wait for it until its requests on all servers have ended, or it ``is_lost``."""

    def __init__(
        self, servers: SharedServers, lane: int, work: float, counts: Counts
    ) -> None:
        self._servers, self.lane, self.counts = servers, lane, counts
        # Of each request, in seconds of a whole server.
        self.left: Floats = np.where(counts > 0, work, 0.0)
        self.ends = math.inf
        self.is_lost = False
        self._process: Process | None = None

    def wait(self, process: Process) -> None:
        self._process = process
        self._servers.enter(self)

    def cancel(self, process: Process) -> None:
        if self._process is not None:
            self._process = None
            self._servers.leave(self)

    def lose(self) -> None:
        """It ends here, without success."""
        process = self._process
        if process is not None:
            self.is_lost = True
            self.cancel(process)
            process.resume()

    def finish(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            process.resume()
