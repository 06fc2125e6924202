"""Four persistent workflows that stage out to one throttled PFS, at once and paced.

python -m benchmarks.drain_workflows [JOBS]

Each is a chain of jobs that compute for ten seconds and write a result, run by the
local engine. `now` runs first; the paced runs are planned by its records, and share a
limit through a registry. At last four runs have one long result each, and one of them
is killed. It needs a device that the kernel throttles (throttled.py):
transfers of a run start in a Python of their own, so nothing can be put beneath them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks.drain_four import (
    BEFORE_KILL,
    DEVICE,
    INTERVAL,
    LIMIT,
    LONG_WINDOW,
    MIB,
    RUNS,
    Outcome,
    judged,
    kill_one,
    reading,
    sped_up,
    told,
)
from benchmarks.throttled import MEMORY, Loop, Segment, Throttled, throttled
from pegasus_bb.report.drained import Cumulative, read_segments
from pegasus_bb.report.probe import read_probe, waits
from tests.support.shebang import shebang
from tests.support.user_site import Site

JOBS = 10
RESULT = 30 * MIB
LONG = 320 * MIB  # of the one result of each run of which one is killed
SLOTS = "16"  # a stage-out has one as long as it takes
FAST = {"read": "8GB/s", "write": "8GB/s"}
TASK = """{shebang}
import os, sys, time
result, token = sys.argv[1:3]
time.sleep({seconds})
with open(result, "wb") as out:
    for _ in range({pieces}):
        out.write(os.urandom(1 << 20))
open(token, "w").close()
"""


@dataclass
class Chain(Site):
    """A site whose results go to the PFS, and a workflow: a chain of jobs."""

    pfs: Path = Path()
    jobs: int = JOBS
    size: int = RESULT  # bytes of each result

    def results(self, run: str) -> Path:
        return self.pfs / run / self.root.name

    def write_task(self) -> None:
        task = self.root / "mix.py"
        pieces = self.size // MIB
        words = {"shebang": shebang("-IS"), "seconds": INTERVAL, "pieces": pieces}
        task.write_text(TASK.format(**words))
        task.chmod(0o755)

    def write(self) -> None:
        super().write()
        steps = [self._job(number) for number in range(self.jobs)]
        self.save("workflow.yml", {"pegasus": "5.0.4", "name": "chain", "jobs": steps})
        sites = self.document("sites.yml")
        sites["x-storage-speeds"] = {"cluster": {"slots": 2, "pfs": FAST, "bb": FAST}}
        self.save("sites.yml", sites)

    def _job(self, number: int) -> dict[str, Any]:
        result = f"result{number}"
        token = f"token{number}"
        uses = [
            {"lfn": result, "type": "output", "metadata": {"size": self.size}},
            {
                "lfn": token,
                "type": "output",
                "metadata": {"size": 0},
                "stageOut": False,
            },
        ]
        if number:
            uses.append({"lfn": f"token{number - 1}", "type": "input"})
        return {
            "type": "job",
            "name": "mix",
            "id": f"J{number}",
            "arguments": [result, token],
            "uses": uses,
        }


def chains(root: Path, pfs: Path, jobs: int, size: int = RESULT) -> list[Chain]:
    folders = [root / f"site{number}" for number in range(RUNS)]
    for folder in folders:
        folder.mkdir(parents=True)
    tier = {"quota": "2GiB"}
    return [Chain(each, tier=tier, pfs=pfs, jobs=jobs, size=size) for each in folders]


def measured(sites: list[Chain], pfs: Throttled, run: str) -> Outcome:
    log = sites[0].root / f"{run}.probe"
    since = time.time()
    for site in sites:
        earlier = ("--bb-history", str(site.submit_dir("now"))) if run != "now" else ()
        site.planned(run, "--bb-mode", "persistent", *earlier)
    with reading(pfs, log):
        begun = time.time()
        engines = [site.start_run(run, "--slots", SLOTS) for site in sites]
        makespans = []
        for engine in engines:
            if engine.wait():
                raise SystemExit(f"a run has failed: see {sites[0].root.parent}")
            makespans.append(time.time() - begun)
    device = Cumulative(pfs.written(since, time.time()))
    latencies = waits(sample.latency for sample in read_probe(log))
    assert latencies is not None
    segments = segments_of(sites, run)
    aggregate = Cumulative(segments).peak(LONG_WINDOW) if segments else 0.0
    return Outcome(device.peak(1.0), aggregate, sum(makespans) / RUNS, latencies)


def segments_of(sites: list[Chain], run: str) -> list[Segment]:
    logs = (log for site in sites for log in drain_logs(site.submit_dir(run)))
    return sorted(each for log in logs for each in read_segments(log))


def drain_logs(submit: Path) -> Iterator[Path]:
    return (submit / "bb" / "drain").glob("*.jsonl")


def main() -> int:
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else JOBS
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        root = Path(folder)
        with throttled(root, DEVICE) as pfs:
            if not isinstance(pfs, Loop):
                print("four workflows: left out, no device can be throttled here")
                return 0
            print(f"{RUNS} workflows of {jobs} jobs; {pfs.how}", flush=True)
            return told(chain(compared(root, pfs, jobs), freed(root, pfs)))


def compared(root: Path, pfs: Throttled, jobs: int) -> Iterator[tuple[str, bool]]:
    sites = chains(root, pfs.folder, jobs)
    now = measured(sites, pfs, "now")
    share(sites, pfs.folder / "registry")
    yield from judged(now, measured(sites, pfs, "paced"))


def share(sites: list[Chain], registry: Path, limit: int = LIMIT) -> None:
    registry.mkdir()
    for site in sites:
        shared = {"limit": f"{limit}B/s", "registry": str(registry)}
        site.declare(drain={"target": "pfs", **shared})


def freed(root: Path, pfs: Throttled) -> Iterator[tuple[str, bool]]:
    sites = chains(root / "killed", pfs.folder, 1, LONG)
    share(sites, pfs.folder / "registry_of_killed")
    others, when = killed(sites, BEFORE_KILL)
    yield sped_up(others, when)


def killed(sites: list[Chain], wait: float) -> tuple[list[Segment], float]:
    """Runs with one result each, and the first is killed: segments of the others, and
    when (epoch) it was."""
    for site in sites:
        site.planned("killed", "--bb-mode", "persistent")
    engines = [site.start_run("killed") for site in sites]

    def drained(number: int) -> list[Segment]:
        return segments_of([sites[number]], "killed")

    when = kill_one(engines, drained, wait, kill_run)
    for engine in engines[1:]:
        if engine.wait():
            raise SystemExit(f"a run has failed: see {sites[0].root.parent}")
    return segments_of(sites[1:], "killed"), when


def kill_run(engine: subprocess.Popen[bytes]) -> None:
    """With all that it has started: a transfer goes on without its engine."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            parents[int(stat.parent.name)] = int(
                stat.read_text().split(")")[1].split()[1]
            )
    run = [engine.pid]
    for parent in run:
        run += [child for child, its in parents.items() if its == parent]
    for process in run:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
