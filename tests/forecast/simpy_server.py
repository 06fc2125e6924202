"""A server in SimPy that wakes all its requests at each change: slow, and plain."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import simpy


@dataclass(frozen=True)
class Work:
    """``count`` requests of ``units`` each, in the lane of that number."""

    start: float
    lane: int
    units: float
    count: int
    patience: float | None = None  # seconds until they are cancelled


class SimpyServer:
    """A shared server. Lanes are (units a second of all of it, most of one request)."""

    def __init__(
        self, env: simpy.Environment, lanes: Sequence[tuple[float, float]]
    ) -> None:
        self._env, self._lanes = env, lanes
        self._at_work: list[Work] = []
        self._changed = env.event()

    def do(self, work: Work) -> Generator[Any, Any, float | None]:
        """Return when it is done; None if it was cancelled."""
        yield self._env.timeout(work.start)
        until = None if work.patience is None else work.start + work.patience
        left = work.units
        self._at_work.append(work)
        self._wake_all()
        while True:
            rate = self._rate(work)
            since = self._env.now
            waits = [self._env.timeout(left / rate), self._changed]
            if until is not None:
                waits.append(self._env.timeout(max(0.0, until - since)))
            done = yield self._env.any_of(waits)
            left -= rate * (self._env.now - since)
            if waits[0] in done or (until is not None and waits[2] in done):
                break
        self._at_work.remove(work)
        self._wake_all()
        return self._env.now if waits[0] in done else None

    def _wake_all(self) -> None:
        self._changed.succeed()
        self._changed = self._env.event()

    def _rate(self, work: Work) -> float:
        """Return the units a second of one request: all shares are filled alike until
        the time is used up; a request that has its most takes part no longer."""
        most = [min(1.0, alone / whole) for whole, alone in self._lanes]
        wants = sorted(
            (most[each.lane], each.lane)
            for each in self._at_work
            for _ in range(each.count)
        )
        free = 1.0
        share = {}
        for place, (limit, lane) in enumerate(wants):
            share[lane] = min(limit, free / (len(wants) - place))
            free -= share[lane]
        return share[work.lane] * self._lanes[work.lane][0]


def ends(lanes: Sequence[tuple[float, float]], works: Sequence[Work]) -> list[Any]:
    env = simpy.Environment()
    server = SimpyServer(env, lanes)
    processes = [env.process(server.do(work)) for work in works]
    env.run()
    return [process.value for process in processes]
