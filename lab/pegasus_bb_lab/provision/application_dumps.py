"""What applications leave on the burst buffer, and by when it has to be drained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from pegasus_bb_lab.model.applications import Application


@dataclass(frozen=True, slots=True)
class Dump:
    """Seconds since the start of the simulation."""

    number: int  # among all dumps of all clients
    size: int  # bytes
    made: float
    last_interval: float  # that ended when this dump was made
    due: float  # when the next one is made, and needs the space


@dataclass(frozen=True, slots=True)
class Client:
    """An application that runs from ``starts`` on and makes ``dumps``."""

    application: Application
    starts: float
    dumps: tuple[Dump, ...]


def draw_clients(
    applications: Iterable[Application], until: float, rng: Random, jitter: float = 0.0
) -> tuple[Client, ...]:
    """Each application starts at some moment of its first interval, and dumps at the
    end of every interval that ends before ``until``. Intervals differ by up to
    ``jitter`` of their length."""
    clients = []
    number = 0
    for application in applications:
        starts = rng.uniform(0.0, application.interval)
        ends = list(_ends(application.interval, starts, until, rng, jitter))
        times = zip([starts, *ends], ends, ends[1:], strict=False)
        dumps = tuple(
            Dump(number + place, application.size, made, made - began, due)
            for place, (began, made, due) in enumerate(times)
        )
        number += len(dumps)
        clients.append(Client(application, starts, dumps))
    return tuple(clients)


def dumps_of(clients: Iterable[Client]) -> list[Dump]:
    """All dumps, in the order of their numbers."""
    return [dump for client in clients for dump in client.dumps]


def _ends(
    interval: float, starts: float, until: float, rng: Random, jitter: float
) -> Iterator[float]:
    """Of all intervals that begin before ``until``."""
    time = starts
    while time < until:
        time += interval * rng.uniform(1 - jitter, 1 + jitter)
        yield time
