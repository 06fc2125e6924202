"""Reactive draining: a dump goes to the target as soon as it is there."""

from __future__ import annotations

from pegasus_bb.forecast.fair_sharing import Lane, SharedServer
from pegasus_bb.forecast.simulated_clock import Steps
from pegasus_bb_lab.model.applications import Target
from pegasus_bb_lab.provision.application_dumps import Dump
from pegasus_bb_lab.provision.drain_outcome import Span
from pegasus_bb_lab.provision.equations import segment_bandwidth
from pegasus_bb_lab.provision.group import Group


class Reactive(Group):
    """Dumps that drain at the same time share the target fairly. All their stripes are
    queued, so it works at its upper bound.

    This flatters the policy: stripes of several dumps interleave, and a real target
    gets slower (Fig. 3b); the paper has no equation for that.
    """

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._lane = Lane(segment_bandwidth(target, target.upper))
        self._server = SharedServer(self.simulation, [self._lane])
        self._at_work, self._since = 0, 0.0  # so many dumps, since then

    def drain(self, dump: Dump) -> Steps:
        yield self.target.positioning
        self._note(+1)
        yield self._lane.request(dump.size)
        self._note(-1)

    def _note(self, change: int) -> None:
        """One more dump is at work from now on, or one fewer."""
        now = self.simulation.now
        if self._at_work and now > self._since:
            size = self._lane.whole * (now - self._since)
            self.spans.append(Span(self._since, now, size))
        self._since, self._at_work = now, self._at_work + change
