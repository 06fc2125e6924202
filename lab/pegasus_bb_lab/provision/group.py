"""Clients that dump, and the one target to which a policy drains their dumps."""

from __future__ import annotations

from collections.abc import Iterable

from pegasus_bb.forecast.simulated_clock import Simulation, Steps
from pegasus_bb_lab.model.applications import Target
from pegasus_bb_lab.provision.application_dumps import Client, Dump, dumps_of
from pegasus_bb_lab.provision.application_map import ApplicationMap
from pegasus_bb_lab.provision.drain_outcome import Outcome, Span


class Group:
    """A policy is a subclass: it says what the draining of a dump does."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.simulation = Simulation()
        self.map = ApplicationMap(target)
        self.spans: list[Span] = []
        self._was_overloaded = False
        self._ends: dict[int, float] = {}  # of dumps, by number

    def run(self, clients: Iterable[Client]) -> Outcome:
        """Until every dump of every client is drained."""
        clients = tuple(clients)
        for client in clients:
            self.simulation.start(self._live(client))
        self.simulation.run()
        dumps = dumps_of(clients)
        ends = [self._ends[dump.number] for dump in dumps]
        return Outcome(self.spans, dumps, ends, self._was_overloaded)

    def drain(self, dump: Dump) -> Steps:
        """Begins when the dump is made, ends when its last byte is on the target."""
        raise NotImplementedError

    def _live(self, client: Client) -> Steps:
        """The life of an application: it computes, dumps, and at last is forgotten."""
        yield client.starts
        self.map.register(client.application)
        self._was_overloaded |= self.map.is_overloaded
        drains = []
        for dump in client.dumps:
            yield max(0.0, dump.made - self.simulation.now)
            drains.append(self.simulation.start(self._drain(dump)))
        yield from drains
        self.map.unregister(client.application)

    def _drain(self, dump: Dump) -> Steps:
        yield from self.drain(dump)
        self._ends[dump.number] = self.simulation.now
