"""Files that stay on the node: two workflows with chains and without, on one PFS.

python -m benchmarks.chains [PAIRS] [MAPS]

As root, where cgroups throttle: the site's scratch is on a device whose writes the
kernel limits to RATE (throttled.py); reads come from memory, and node disks are memory.
So a ratio says what the writes of files between jobs cost, and nothing of reads. Runs
with and without chains alternate; a ratio is that of the medians.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.throttled import MEMORY, Loop, Throttled, throttled
from tests.support.shebang import shebang
from tests.support.user_site import Site

MIB = 1 << 20
RATE = 48 * MIB  # bytes per second
PAIRS, MAPS = 3, 120
SLOTS = "2"
# Reads every input, writes SIZE bytes that depend on them.
TASK = """{shebang}
import hashlib, sys
out, size, *inputs = sys.argv[1:]
found = hashlib.sha256(out.encode())
for name in inputs:
    with open(name, "rb") as given:
        while piece := given.read(1 << 20):
            found.update(piece)
piece = found.digest() * 32768
with open(out, "wb") as result:
    for at in range(0, int(size), len(piece)):
        result.write(piece[: int(size) - at])
"""
Step = tuple[str, int, tuple[str, ...]]  # output, bytes, inputs


@dataclass(frozen=True)
class Shape:
    name: str
    goal: float  # how many times as fast with chains
    steps: tuple[Step, ...]
    results: frozenset[str]


def producers(pairs: int = 6, size: int = 96 * MIB) -> Shape:
    """NORNS (Miranda et al., CLUSTER 2019): a producer, and a consumer of what it has
    made; 170 s through the PFS, 96 s on the node."""
    steps: list[Step] = []
    for n in range(pairs):
        steps += [(f"made{n}", size, ()), (f"result{n}", MIB, (f"made{n}",))]
    results = frozenset(f"result{n}" for n in range(pairs))
    return Shape("producer and consumer", 1.77, tuple(steps), results)


def map_reduce(maps: int, size: int = 16 * MIB) -> Shape:
    """The shape of TaskVine's at SC24: tasks that make events, tasks that fill a
    histogram from them, and one that adds up."""
    steps: list[Step] = []
    for n in range(maps):
        steps += [(f"events{n}", size, ()), (f"part{n}", 16384, (f"events{n}",))]
    parts = tuple(f"part{n}" for n in range(maps))
    steps.append(("sum", MIB, parts))
    return Shape("map-reduce", 2.0, tuple(steps), frozenset({"sum"}))


class Outcome(NamedTuple):
    seconds: float  # of the run
    written: int  # bytes to the PFS
    digest: str  # of all results


def workflow(shape: Shape) -> dict[str, Any]:
    jobs = []
    for out, size, inputs in shape.steps:
        made = {"lfn": out, "type": "output", "metadata": {"size": size}}
        made |= {"stageOut": out in shape.results, "registerReplica": False}
        uses = [*({"lfn": lfn, "type": "input"} for lfn in inputs), made]
        job = {"type": "job", "name": "mix", "id": f"J-{out}", "uses": uses}
        jobs.append({**job, "arguments": [out, str(size), *inputs]})
    return {"pegasus": "5.0.4", "name": "chains", "jobs": jobs}


def declared(site: Site, shape: Shape) -> None:
    disk = site.root / "nvme"
    disk.mkdir(exist_ok=True)
    sites = site.document("sites.yml")
    tier = {"name": "nvme", "backend": "node-local", "path": str(disk), "mount": "any"}
    sites["x-storage-tiers"]["cluster"] = [tier]
    site.save("sites.yml", sites)
    task = site.root / "mix.py"
    task.write_text(TASK.format(shebang=shebang("-IS")))
    site.save("workflow.yml", workflow(shape))


def run(site: Site, pfs: Throttled, name: str, chains: str) -> Outcome:
    more = ("--bb-mode", "transient", "--bb-chains", chains, "--bb-poll", "1s")
    site.planned(name, *more)
    begun = time.time()
    if site.start_run(name, "--slots", SLOTS).wait():
        raise SystemExit(f"a run has failed: {site.submit_dir(name)}")
    ended = time.time()
    written = sum(size for _, _, size in pfs.written(begun, ended))
    content = sorted(site.content(name).items())
    found = hashlib.sha256(b"".join(data for _, data in content)).hexdigest()
    return Outcome(ended - begun, int(written), found)


def compared(site: Site, pfs: Throttled, shape: Shape, pairs: int) -> Iterator[bool]:
    declared(site, shape)
    found: dict[str, list[Outcome]] = {"off": [], "auto": []}
    word = shape.name.split()[0]
    for number in range(pairs):
        for chains, outcomes in found.items():
            outcomes.append(run(site, pfs, f"{word}-{chains}{number}", chains))
            last = outcomes[-1]
            told = f"{last.seconds:.1f} s, {last.written / MIB:,.0f} MiB written"
            print(f"  {shape.name}, chains {chains}: {told}", flush=True)
    off, on = (median(each.seconds for each in runs) for runs in found.values())
    same = len({each.digest for runs in found.values() for each in runs}) == 1
    print(
        f"{shape.name}, {len(shape.steps)} tasks: {off:.1f} s -> {on:.1f} s, "
        f"{off / on:.2f}x (goal {shape.goal}x); results "
        f"{'are the same' if same else 'DIFFER'}",
        flush=True,
    )
    yield same and off / on >= shape.goal


def main() -> int:
    given = [int(text) for text in sys.argv[1:]]
    pairs, maps = (*given, *(PAIRS, MAPS)[len(given) :])
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        root = Path(folder)
        with throttled(root, RATE) as pfs:
            if not isinstance(pfs, Loop):
                print("chains: left out, no device can be throttled here")
                return 0
            print(f"writes at {RATE / MIB:.0f} MiB/s: {pfs.how}", flush=True)
            site = Site(root)
            shapes = (producers(), map_reduce(maps))
            good = [ok for shape in shapes for ok in compared(site, pfs, shape, pairs)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
