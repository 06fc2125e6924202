"""A run in SimGrid: `python3 simgrid_run.py < RUN`, by a Python that has SimGrid.

RUN is JSON: the servers of storage, how many slots there are, and what each node does.
A server is a link of 1 GB/s: a second of its time is a GB, and a flow is limited by a
link of its own. It prints when each node has ended. Nothing of ours is imported.
"""

from __future__ import annotations

import heapq
import json
import sys
from collections.abc import Iterator
from typing import Any

from simgrid import Actor, Comm, Engine, LinkInRoute, NetZone, this_actor  # type: ignore[import-not-found,unused-ignore]

GB = 1e9
# Plain max-min sharing, without what it knows of TCP.
EXACT = (
    "network/model:CM02",
    "network/crosstraffic:0",
    "network/TCP-gamma:0",
    "network/bandwidth-factor:1",
    "network/latency-factor:0",
    "maxmin/precision:1e-9",
)
TIE = 1e-3  # seconds in which all arrive that have the same time but for rounding


class Platform:
    def __init__(self, servers: int, caps: list[tuple[int, float]], flows: int) -> None:
        """``caps``: of a flow at a server, its part of the server's time."""
        zone = NetZone.create_full_zone("site")
        self.main = zone.create_host("main", GB)
        self.server = [zone.create_host(f"server{n}", GB) for n in range(servers)]
        shared = [self._link(zone, f"shared{n}", GB) for n in range(servers)]
        self.free: dict[tuple[int, float], list[Any]] = {}
        for server, most in caps:
            for n in range(flows):
                name = f"{server}-{most}-{n}"
                host = zone.create_host(name, GB)
                own = self._link(zone, f"own-{name}", most * GB)
                route = [LinkInRoute(own), LinkInRoute(shared[server])]
                to = self.server[server]
                zone.add_route(host.netpoint, to.netpoint, None, None, route, True)
                self.free.setdefault((server, most), []).append(host)
        zone.seal()

    def _link(self, zone: Any, name: str, speed: float) -> Any:
        link = zone.create_link(name, speed)
        link.set_latency(0)
        link.seal()
        return link


class Run:
    def __init__(self, what: dict[str, Any]) -> None:
        self.what, self.nodes, self.free = what, what["nodes"], what["slots"]
        self.ended = [0.0] * len(self.nodes)
        self.waits = [node["parents"] for node in self.nodes]
        self.ready: list[tuple[int, int]] = []
        self.end = 0.0
        caps = sorted({(s, most) for s, most, _ in self._flows()})
        most_flows = max((len(step) for step in self._shared_steps()), default=1)
        self.platform = Platform(what["servers"], caps, most_flows * len(self.nodes))

    def _shared_steps(self) -> Iterator[Any]:
        for node in self.nodes:
            for part in ("before", "steps", "after"):
                yield from (step for step in node[part] if isinstance(step, list))

    def _flows(self) -> Iterator[Any]:
        for step in self._shared_steps():
            yield from step

    def begin(self) -> None:
        this_actor.sleep_for(self.what["start"])
        for at, parents in enumerate(self.waits):
            if not parents:
                self._become_ready(at)
        self._dispatch()

    def _become_ready(self, at: int) -> None:
        if any(self.nodes[at]["before"]):
            Actor.create(f"ready{at}", self.platform.main, self._queued, at)
        else:
            self._queue(at)

    def _queued(self, at: int) -> None:
        self._do(self.nodes[at]["before"])
        self._queue(at)
        this_actor.sleep_for(TIE)
        self._dispatch()

    def _queue(self, at: int) -> None:
        heapq.heappush(self.ready, (self.nodes[at]["turn"], at))

    def _dispatch(self) -> None:
        while self.free and self.ready:
            self.free -= 1
            _, at = heapq.heappop(self.ready)
            Actor.create(f"node{at}", self.platform.main, self._node, at)

    def _node(self, at: int) -> None:
        self._do(self.nodes[at]["steps"])
        self.free += 1
        if self.nodes[at]["after"]:
            self._dispatch()
            self._do(self.nodes[at]["after"])
        self.ended[at] = self.end = Engine.clock
        for child in self.nodes[at]["children"]:
            self.waits[child] -= 1
            if not self.waits[child]:
                self._become_ready(child)
        self._dispatch()

    def _do(self, steps: list[Any]) -> None:
        for step in steps:
            if isinstance(step, list):
                self._share(step)
            elif step:
                this_actor.sleep_for(step)

    def _share(self, flows: list[Any]) -> None:
        """Move the flows of a step at the same time: server, its part, seconds."""
        started = []
        for server, most, seconds in flows:
            host = self.platform.free[server, most].pop()
            size = round(seconds * GB)
            flow = Comm.sendto_async(host, self.platform.server[server], size)
            started.append((flow, (server, most), host))
        for flow, cap, host in started:
            flow.wait()
            self.platform.free[cap].append(host)


def main() -> int:
    Engine(["simgrid_run", "--log=root.thresh:error", *(f"--cfg={x}" for x in EXACT)])
    run = Run(json.load(sys.stdin))
    Actor.create("begin", run.platform.main, run.begin)
    Engine.instance.run()
    print(json.dumps({"ended": run.ended, "end": run.end}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
