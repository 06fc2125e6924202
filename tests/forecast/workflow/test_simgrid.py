"""Our simulation of a run and SimGrid's agree.

What each node moves is ours; how storage is shared, what waits for a slot, and when all
has ended SimGrid finds by itself.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from shutil import which
from typing import Any

import pytest

from pegasus_bb.forecast.demands.demand import Demand, DemandRange
from pegasus_bb.forecast.fair_sharing import Lane
from pegasus_bb.forecast.simulated_clock import Simulation
from pegasus_bb.forecast.workflow.outline import PRIORITY
from pegasus_bb.forecast.workflow.simulator import Mode, Simulator, demands_of
from pegasus_bb.forecast.workflow.storage_model import Storage
from pegasus_bb.forecast.workflow.work import THREADS, StorageCopy, Work
from pegasus_bb.model.modes import HYBRID, OFF, PERSISTENT, TRANSIENT, RunMode
from pegasus_bb.planner.predicting import mode_predictions
from pegasus_bb.planner.predictions import ModePredictions
from tests.support.user_files import User, job, sized, use

RUN = Path(__file__).with_name("simgrid_run.py")
NEAR = 0.005  # of a makespan
MB = 1_000_000
SPEEDS = """\
cluster:
  slots: 4
  pfs: {read: 90MB/s, write: 50MB/s, job_read: 40MB/s, job_write: 30MB/s,
        latency: 3ms, ops: 900/s, job_ops: 400/s}
  bb: {read: 410MB/s, write: 350MB/s, job_read: 170MB/s, job_write: 160MB/s,
       ops: 9000/s, job_ops: 4000/s}
"""


@cache
def python() -> str:
    """A Python that has SimGrid; empty without one."""
    for name in ("python3", "/usr/bin/python3"):
        found = which(name)
        argv = [found or "", "-c", "import simgrid"]
        if found and not subprocess.run(argv, capture_output=True).returncode:
            return found
    return ""


class Flow:
    """What one node asks of servers, as SimGrid is told of it."""

    def __init__(self, mode: Mode, simulator: Simulator) -> None:
        self.startup = mode.rules.startup
        speeds = simulator.planned.speeds.places.values()
        self.places = Storage(Simulation(), speeds).places

    def share(self, lane: Lane, server: int, units: float) -> list[Any]:
        return [server, lane.most, units / lane.whole]

    def bytes(self, place: int, size: float, *, write: bool) -> list[Any]:
        on = self.places[place]
        return self.share(on.writing if write else on.reading, 2 * place, size)

    def calls(self, place: int, amount: float) -> list[Any]:
        lane = self.places[place].calls
        assert lane is not None
        return self.share(lane, 2 * place + 1, amount)

    def copy(self, copy: StorageCopy, *, by_threads: bool = False) -> Iterator[Any]:
        both = copy.source, copy.dest
        width = max(1, min(THREADS, copy.files)) if by_threads else 1
        yield copy.files * sum(self.places[at].latency for at in both) / width
        for place in both if copy.files else ():
            yield [self.calls(place, copy.files / width)] * width
        together = copy.size - copy.longest if width > 1 else 0
        for size, count in ((together, width), (copy.size - width * together, 1)):
            if size:
                source = self.bytes(copy.source, size, write=False)
                dest = self.bytes(copy.dest, size, write=True)
                yield [source, dest] * count

    def copies(self, copies: Sequence[StorageCopy], **how: bool) -> list[Any]:
        return [step for copy in copies for step in self.copy(copy, **how)]

    def task(self, work: Work, demand: Demand) -> dict[str, list[Any]]:
        own = work.own
        early = own is not None and own.by_batch_system
        stage_in = self.copies(own.stage_in) if own else []
        stage_out = self.copies(own.stage_out) if own else []
        steps = [self.startup.job, *([] if early else stage_in), work.opening]
        steps += [[self.bytes(at, size, write=False)] for at, size in work.reads]
        steps.append(demand.compute)
        for place, share in work.calls if demand.operations else ():
            steps.append([self.calls(place, demand.operations * share)])
        steps += [[self.bytes(at, size, write=True)] for at, size in work.writes]
        steps += [] if early else stage_out
        before = [*(stage_in if early else []), self.startup.queue]
        return {
            "before": before,
            "steps": steps,
            "after": stage_out if early else [],
        }

    def auxiliary(self, work: Work) -> dict[str, list[Any]]:
        steps = [self.startup.own, *self.copies(work.copies, by_threads=True)]
        steps += [[self.calls(place, files)] for place, files in work.removes]
        return {"before": [self.startup.queue], "steps": steps, "after": []}


def told(mode: Mode, simulator: Simulator, demands: Sequence[Demand]) -> dict[str, Any]:
    flow = Flow(mode, simulator)
    count = len(mode.outline.nodes)
    nodes = []
    for at, (node, work) in enumerate(zip(mode.outline.nodes, mode.work, strict=True)):
        does = flow.task(work, demands[at]) if node.load else flow.auxiliary(work)
        turn = at - PRIORITY.get(node.kind, 0) * count
        links = {"children": node.children, "parents": node.parents}
        nodes.append({"turn": turn, **links, **does})
    alone = mode.rules.startup.queue + mode.rules.startup.own
    start = alone * (2 if mode.rules.reserves else 1) + mode.rules.wait
    return {
        "servers": 2 * len(flow.places),
        "slots": simulator.planned.speeds.slots,
        "start": start,
        "nodes": nodes,
    }


def chain(random: Random) -> list[dict[str, Any]]:
    return drawn(random, [[at - 1] if at else [] for at in range(12)])


def fan(random: Random) -> list[dict[str, Any]]:
    return drawn(random, [[], *([[0]] * 20), list(range(1, 21))])


def map_reduce(random: Random) -> list[dict[str, Any]]:
    maps = [[] for _ in range(12)]
    return drawn(random, [*maps, *([list(range(12))] * 4)])


def montage(random: Random) -> list[dict[str, Any]]:
    """Images, their overlaps, one model of all, each image corrected, one mosaic."""
    images, overlaps = range(8), range(8, 15)
    pairs = [[n, n + 1] for n in range(7)]
    corrected = [[15, n] for n in images]
    last = [list(range(16, 24))]
    return drawn(random, [*([[]] * 8), *pairs, list(overlaps), *corrected, *last])


def any_dag(random: Random) -> list[dict[str, Any]]:
    parents = [
        random.sample(range(at), min(at, random.randrange(4))) for at in range(30)
    ]
    return drawn(random, parents)


def drawn(random: Random, parents: Sequence[Sequence[int]]) -> list[dict[str, Any]]:
    """Jobs that write a file each and read those of their parents; no two sizes are
    equal, so no two nodes end at the same time."""
    readers = {up for above in parents for up in above}
    jobs = []
    for at, above in enumerate(parents):
        size = sized(random.randrange(5 * MB, 300 * MB))
        kept = {"stageOut": False} if at in readers else {}
        uses = [use(f"made{up}", "input") for up in sorted(set(above))]
        uses.append(use(f"made{at}", "output", **kept, **size))
        if not above:
            uses.append(use(f"in{at}", "input", **sized(random.randrange(90 * MB))))
        jobs.append(job(f"ID{at}", *uses))
    return jobs


def predictions(
    folder: Path, mode: RunMode, jobs: list[dict[str, Any]], random: Random
) -> ModePredictions:
    (folder / "speeds.yml").write_text(SPEEDS)
    defines = ["pegasus.bb.speeds=speeds.yml", f"pegasus.bb.mode={mode.name}"]
    user = User(folder, jobs, {"capacity": "1TiB"}, defines=defines)
    found = mode_predictions(user.given(), None)
    assert found is not None
    planned = found.simulator.planned
    ranges = []
    for _ in planned.work.loads:
        demand = Demand(random.uniform(0.5, 30.0), float(random.randrange(3000)))
        ranges.append(DemandRange(demand, demand))
    pairs = zip(planned.work.loads, ranges, strict=True)
    loads = tuple(replace(load, demand=each) for load, each in pairs)
    known = replace(planned, work=replace(planned.work, loads=loads))
    return replace(found, simulator=found.simulator.with_planned(known))


@pytest.mark.sweep
@pytest.mark.skipif(not python(), reason="no python3 here has SimGrid")
@pytest.mark.parametrize("mode", [OFF, PERSISTENT, TRANSIENT, HYBRID], ids=str)
@pytest.mark.parametrize("shape", [chain, fan, map_reduce, montage, any_dag])
def test_a_run_takes_as_long_as_in_simgrid(
    tmp_path: Path, shape: Any, mode: RunMode
) -> None:
    random = Random(shape.__name__)
    found = predictions(tmp_path, mode, shape(random), random)
    simulator, what = found.simulator, found.mode(mode)
    demands = demands_of(simulator.planned.work, 0)
    ours = simulator.execute(what, demands)
    argv = [python(), str(RUN)]
    text = json.dumps(told(what, simulator, demands))
    done = subprocess.run(argv, input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    theirs = json.loads(done.stdout)
    assert max(ours.ended) == pytest.approx(theirs["end"], rel=NEAR)
    assert ours.ended == pytest.approx(theirs["ended"], rel=NEAR)
