"""What a policy did with a target: bandwidth over time, and which dumps were late."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pegasus_bb_lab.provision.application_dumps import Dump

_TOLERANCE = 1e-6  # seconds: what the sums of a simulated day are exact to


class Span(NamedTuple):
    """From ``start`` to ``end``, in seconds, the target took ``size`` bytes at one
    rate."""

    start: float
    end: float
    size: float
    dump: int | None = None  # whose bytes; None: of several dumps


@dataclass(frozen=True)
class Outcome:
    """Of one policy. ``ends`` has the second at which each dump is drained."""

    spans: Sequence[Span]
    dumps: Sequence[Dump]
    ends: Sequence[float]
    is_overloaded: bool = False  # at some time, by eq. 8

    def late(self) -> list[Dump]:
        """Those that were not drained when the next dump needed their space."""
        both = zip(self.dumps, self.ends, strict=True)
        return [dump for dump, end in both if end > dump.due + _TOLERANCE]

    def peak(self, window: float) -> float:
        """The highest mean bandwidth of a window of so many seconds."""
        return max(bandwidths(self.spans, window), default=0.0)


def bandwidths(spans: Iterable[Span], window: float) -> list[float]:
    """The mean bandwidth of each window, as a monitor sees it that polls every
    ``window`` seconds from the start on."""
    sizes: list[float] = []
    for span in spans:
        first = int(span.start / window)
        last = int(span.end / window)
        sizes.extend([0.0] * (last + 1 - len(sizes)))
        left = span.size
        for place in range(first, last):
            seconds = (place + 1) * window - max(span.start, place * window)
            part = span.size * seconds / (span.end - span.start)
            sizes[place] += part
            left -= part
        sizes[last] += left  # all of a span too short for the clock's precision
    return [size / window for size in sizes]
