"""Proactive draining (Tang et al., sections III and IV): segment by segment, spread
over the time until the next dump."""

from __future__ import annotations

import math

from pegasus_bb.forecast.simulated_clock import Slots, Steps
from pegasus_bb_lab.model.applications import Target
from pegasus_bb_lab.provision.application_dumps import Dump
from pegasus_bb_lab.provision.drain_outcome import Span
from pegasus_bb_lab.provision.equations import segment_bandwidth
from pegasus_bb_lab.provision.group import Group


class Proactive(Group):
    """Segments wait in one queue, first in, first out: they never interleave. Every
    application cuts its dumps into segments of the size that the map says now."""

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._turns = Slots(1)

    def drain(self, dump: Dump) -> Steps:
        """Segment k of N joins the queue at made + k T / N; T is the last interval.

        N is what the rest of the dump needs now, so a change of the segment size
        changes the pace of the rest.
        """
        simulation = self.simulation
        left = dump.size
        ends = dump.made + dump.last_interval
        while True:
            n_io = self.map.n_io
            size = min(left, n_io * self.target.stripe)
            segment = simulation.start(self._segment(dump, size, n_io))
            if size == left:
                break
            count = math.ceil(left / size)
            left -= size
            yield max(0.0, ends - simulation.now) / count
        yield segment

    def _segment(self, dump: Dump, size: int, n_io: int) -> Steps:
        yield self._turns.take()
        start = self.simulation.now + self.target.positioning
        yield self.target.positioning + size / segment_bandwidth(self.target, n_io)
        self.spans.append(Span(start, self.simulation.now, size, dump.number))
        self._turns.give()
