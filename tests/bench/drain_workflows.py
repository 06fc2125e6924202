"""Four persistent workflows that stage out to one throttled PFS, at once and paced.

python -m tests.bench.drain_workflows [JOBS]

Each is a chain of jobs that compute for ten seconds and write a result, run by the
local engine. `now` runs first; the paced runs are planned by its records, and share a
limit through a registry. It needs a device that the kernel throttles (throttled.py):
transfers of a run start in a Python of their own, so nothing can be put beneath them.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pegasus_bb.report.drained import Cumulative, read_segments
from pegasus_bb.report.probe import read_probe, waits
from tests.bench.drain_four import (
    DEVICE,
    INTERVAL,
    LIMIT,
    LONG_WINDOW,
    MIB,
    RUNS,
    Outcome,
    judged,
    reading,
    told,
)
from tests.bench.throttled import MEMORY, Loop, Throttled, throttled
from tests.end_to_end.conftest import Site

JOBS, RESULT = 10, 30 * MIB
SLOTS = "16"  # a stage-out has one as long as it takes
FAST = {"read": "8GB/s", "write": "8GB/s"}
TASK = """#!{python} -IS
import os, sys, time
result, token = sys.argv[1:3]
time.sleep({seconds})
with open(result, "wb") as out:
    for _ in range({pieces}):
        out.write(os.urandom(1 << 20))
open(token, "w").close()
"""


class Chain(Site):
    """A site whose results go to the PFS, and a workflow of ``JOBS`` jobs."""

    pfs: Path
    jobs = JOBS

    def results(self, run: str) -> Path:
        return self.pfs / run / self.root.name

    def write_task(self) -> None:
        task = self.root / "mix.py"
        pieces = RESULT // MIB
        words = {"python": sys.executable, "seconds": INTERVAL, "pieces": pieces}
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
        result, token = f"result{number}", f"token{number}"
        uses = [
            {"lfn": result, "type": "output", "metadata": {"size": RESULT}},
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
            **{"type": "job", "name": "mix", "id": f"J{number}"},
            **{"arguments": [result, token], "uses": uses},
        }


def chain(root: Path, pfs: Path, number: int, jobs: int) -> Chain:
    Chain.pfs, Chain.jobs = pfs, jobs
    folder = root / f"site{number}"
    folder.mkdir()
    return Chain(folder, tier={"quota": "2GiB"})


def measured(sites: list[Chain], pfs: Throttled, run: str) -> Outcome:
    log, since = sites[0].root / f"{run}.probe", time.time()
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
    logs = (log for site in sites for log in drain_logs(site.submit_dir(run)))
    segments = sorted(each for log in logs for each in read_segments(log))
    aggregate = Cumulative(segments).peak(LONG_WINDOW) if segments else 0.0
    return Outcome(device.peak(1.0), aggregate, sum(makespans) / RUNS, latencies)


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
            return told(compared(root, pfs, jobs))


def compared(root: Path, pfs: Throttled, jobs: int) -> Iterator[tuple[str, bool]]:
    sites = [chain(root, pfs.folder, number, jobs) for number in range(RUNS)]
    now = measured(sites, pfs, "now")
    registry = pfs.folder / "registry"
    registry.mkdir()
    limit = {"limit": f"{LIMIT}B/s", "registry": str(registry)}
    for site in sites:
        site.declare(drain={"target": "pfs", **limit})
    yield from judged(now, measured(sites, pfs, "paced"))


if __name__ == "__main__":
    sys.exit(main())
