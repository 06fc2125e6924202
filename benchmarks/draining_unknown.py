"""Dumps whose intervals are learned, and differ by 30 %, against the taut string.

The intervals are those that `pegasus-bb drain` learns (draining/dumps.py); its first
dump is left out, since nothing is known then. Alone, each drain has a rate of its own;
a dump that comes early shares its time with what is left of the one before. Together,
they share a limit, and segments go by the earliest deadline, as the registry has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from random import Random

from pegasus_bb_lab.model.applications import Application
from pegasus_bb_lab.provision.application_dumps import Client, Dump, draw_clients
from pegasus_bb_lab.provision.drain_outcome import Span, bandwidths
from pegasus_bb_lab.provision.optimum import optimum

from pegasus_bb.forecast.drain_windows import peak
from pegasus_bb.runtime.draining.dumps import Dump as Seen
from pegasus_bb.runtime.draining.dumps import Interval

JITTER = 0.3  # of intervals
LOAD = 0.9  # of the limit
# applications
ALONE = 8
TOGETHER = 20
SEGMENTS = 60  # of a dump
# seconds
HOUR = 3600.0
WINDOW = 60.0
GB = 10**9


def clients_of(count: int, hours: int, seed: int) -> list[Client]:
    draw = Random(seed)
    applications = [
        Application(f"a{n}", draw.randint(20, 200) * GB, draw.uniform(600, 3600))
        for n in range(count)
    ]
    return list(draw_clients(applications, hours * HOUR, Random(seed), JITTER))


def spreads(client: Client, shares_limit: bool) -> Iterator[tuple[Dump, float]]:
    """Its dumps, and over how many seconds each is spread."""
    interval = Interval()
    interval.learn(Seen(0, {}, 1, client.starts))
    for dump in client.dumps:
        interval.learn(Seen(dump.number, {}, 1, dump.made))
        yield dump, interval.spread(shares_limit=shares_limit)


def times_optimum_alone(seed: int) -> float:
    """Peak of a minute, in times of the optimum's."""
    clients = clients_of(ALONE, 8, seed)
    spans = [span for client in clients for span in _alone(client)]
    return max(bandwidths(spans, WINDOW)) / peak(optimum(clients))


def _alone(client: Client) -> Iterator[Span]:
    left = 0.0
    for dump, seconds in spreads(client, shares_limit=False):
        rate = (left + dump.size) / seconds
        end = min(dump.made + seconds, dump.due)
        yield Span(dump.made, end, rate * (end - dump.made))
        left += dump.size - rate * (end - dump.made)
    if left > 1:
        yield Span(end, end + left / rate, left)


def together(seed: int) -> tuple[float, float]:
    """The same peak, and the share of dumps that are safe before the next."""
    clients = clients_of(TOGETHER, 24, seed)
    mean = sum(c.application.size / c.application.interval for c in clients)
    waiting: list[tuple[float, int]] = []  # joins at, dump
    dumps: list[tuple[float, Dump]] = []  # deadline as learned
    for client in clients:
        for dump, seconds in spreads(client, shares_limit=True):
            for k in range(SEGMENTS):
                heappush(waiting, (dump.made + k * seconds / SEGMENTS, len(dumps)))
            dumps.append((dump.made + seconds, dump))
    spans = list(_by_turns(waiting, dumps, mean / LOAD))
    ends = {span.dump: span.end for span in spans}  # the last one of each counts
    in_time = sum(ends[number] <= dump.due for number, (_, dump) in enumerate(dumps))
    highest = max(bandwidths(spans, WINDOW)) / peak(optimum(clients))
    return highest, in_time / len(dumps)


def _by_turns(
    waiting: list[tuple[float, int]], dumps: list[tuple[float, Dump]], limit: float
) -> Iterator[Span]:
    queue: list[tuple[float, int]] = []  # deadline, dump
    now = 0.0
    while waiting or queue:
        if not queue:
            now = max(now, waiting[0][0])
        while waiting and waiting[0][0] <= now:
            _, number = heappop(waiting)
            heappush(queue, (dumps[number][0], number))
        _, number = heappop(queue)
        size = dumps[number][1].size / SEGMENTS
        yield Span(now, now + size / limit, size, number)
        now += size / limit
