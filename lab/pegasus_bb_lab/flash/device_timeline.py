"""What a device counts while it takes a trace, over the time that this takes it."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from pegasus_bb_lab.flash.counters import Counters
from pegasus_bb_lab.flash.device import new_device
from pegasus_bb_lab.flash.geometry import Geometry
from pegasus_bb_lab.model.flash_device import Device

# Fitted to eight pairs of WAF and bandwidth of Koo et al. (Fig. 6, 7, 9 and 11), within
# 14 %: to copy a page costs so many times what it costs to write one for the host.
COPY = 2.03
_POINTS = 240  # at which the counters are read


def slowdown(waf: float) -> float:
    """Time with garbage collection, to that without."""
    return 1 + COPY * (waf - 1)


@dataclass(frozen=True)
class Timeline:
    seconds: Sequence[float]
    counters: Sequence[Counters]

    def at(self, second: float) -> list[float]:
        """Host pages of each stream, then flash pages of each, until then."""
        place = bisect_left(self.seconds, second)
        if place in (0, len(self.seconds)):
            return _pages(self.counters[min(place, len(self.seconds) - 1)])
        begin, end = self.seconds[place - 1 : place + 1]
        part = (second - begin) / (end - begin)
        pairs = zip(*map(_pages, self.counters[place - 1 : place + 1]), strict=True)
        return [first + part * (second_ - first) for first, second_ in pairs]

    def between(self, begin: float, end: float) -> list[float]:
        pairs = zip(self.at(begin), self.at(end), strict=True)
        return [after - before for before, after in pairs]

    @property
    def refused(self) -> int:
        return self.counters[-1].refused


def run_device(
    device: Device, geometry: Geometry, events: array[int], streams: bytes, unit: int
) -> Timeline:
    """A new device takes all ``events``, ``unit`` pages each."""
    kernel = new_device(geometry, len(streams))
    counters = [kernel.counters()]
    for point in range(_POINTS):
        begin, end = (len(events) * each // _POINTS for each in (point, point + 1))
        kernel.replay(events[begin:end], streams, unit)
        counters.append(kernel.counters())
    seconds = [_busy(each) * device.page / device.bandwidth for each in counters]
    return Timeline(seconds, counters)


def _busy(counters: Counters) -> float:
    """Time in pages that the host writes."""
    host = sum(counters.host)
    nand = sum(counters.nand)
    return host + COPY * (nand - host)


def _pages(counters: Counters) -> list[float]:
    return [*map(float, counters.host), *map(float, counters.nand)]
