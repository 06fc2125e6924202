"""Four jobs that dump onto buffers of their own, and drain to one throttled PFS.

python -m benchmarks.drain_four [DUMPS] [beneath]

They are no workflows, but programs that write every ten seconds, each beside a
`pegasus-bb drain`: four engines would keep two cores busy by themselves. First each
drains at full speed, then all share a rate through a registry. At last one is killed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from benchmarks.probe import make, running
from benchmarks.throttled import MEMORY, Segment, Throttled, throttled
from pegasus_bb.report.drained import Cumulative, read_segments
from pegasus_bb.report.probe import ProbeWaits, read_probe, waits

MIB = 1 << 20
RUNS = 4
# bytes per second
DEVICE = 72 * MIB
LIMIT = 24 * MIB
INTERVAL = 10.0
DUMP = 30 * MIB
DUMPS = 8
# bytes of a dump, seconds
LONG = 240 * MIB
BEFORE_KILL = 12.0
WINDOW = 5.0  # seconds over which the speed after a kill is a mean
LONG_WINDOW = 10.0  # and the aggregate: a segment of a quarter second more is 2.5 %
# goals
OVER = 1.05
LESS = 2.0
LONGER = 1.05
SOON = 30.0
ROOT = Path(__file__).parents[1]


class Outcome(NamedTuple):
    peak: float  # bytes per second of the device, of the busiest second
    aggregate: float  # of all drains together, over the busiest LONG_WINDOW
    makespan: float  # seconds, the mean
    reader: ProbeWaits  # what a competing reader waited


class Jobs:
    """Their buffers, and the drains to ``pfs``."""

    def __init__(self, root: Path, pfs: Throttled, name: str) -> None:
        self._pfs, self._name, self._root = pfs, name, root
        self.buffers = [root / name / f"buffer{number}" for number in range(RUNS)]
        for buffer in self.buffers:
            buffer.mkdir(parents=True)

    def drain(self, number: int, *options: str) -> subprocess.Popen[bytes]:
        buffer = self.buffers[number]
        dest = self._pfs.folder / self._name / str(number)
        words = ["drain", str(buffer), str(dest), "--settle", "1s"]
        words += ["--log", str(self.log(number)), *options]
        environ = {**os.environ, "PEGASUS_BB_LEDGER": str(self._root / "ledger.jsonl")}
        said = self.log(number).with_suffix(".err").open("wb")
        process = subprocess.Popen(
            self._pfs.module("pegasus_bb", *words), cwd=ROOT, env=environ, stderr=said
        )
        until_there(self.log(number).with_suffix(".err"))  # it has begun
        return process

    def log(self, number: int) -> Path:
        return self._root / self._name / f"log{number}.jsonl"

    def segments(self, *numbers: int) -> list[Segment]:
        return sorted(s for n in numbers for s in read_segments(self.log(n)))


def until_there(file: Path) -> None:
    while not file.stat().st_size:
        time.sleep(0.05)


def rates(limit: int, registry: Path, seconds: float = 0.0) -> list[str]:
    """Options of a drain that shares ``limit``, and knows its interval."""
    shared = ["--rate", f"{limit}B/s", "--registry", str(registry)]
    return [*shared, "--interval", f"{seconds:.0f}"] if seconds else shared


def program(jobs: Jobs, number: int, dumps: int, options: list[str]) -> float:
    """Computes, dumps, and so on: seconds until all is safe."""
    drain = jobs.drain(number, *options)
    begun = time.monotonic()
    for step in range(1, dumps + 1):
        time.sleep(max(0.0, begun + step * INTERVAL - time.monotonic()))
        dump(jobs.buffers[number] / f"step{step}", DUMP)
    drain.terminate()
    if drain.wait():
        raise SystemExit(f"drain {number} ended with {drain.returncode}")
    return time.monotonic() - begun


def dump(file: Path, size: int) -> None:
    with file.open("wb") as out:
        for _ in range(size // MIB):
            out.write(os.urandom(MIB))


@contextmanager
def reading(pfs: Throttled, log: Path) -> Iterator[None]:
    """A competing reader is at work meanwhile."""
    file = pfs.folder / "probed"
    make(file)
    with running(pfs.module("benchmarks.probe", "read", str(file), str(log))):
        yield


def side_by_side(jobs: Jobs, dumps: int, options: list[str]) -> list[float]:
    makespans: list[float] = []
    threads = [
        threading.Thread(
            target=lambda n=number: makespans.append(program(jobs, n, dumps, options))
        )
        for number in range(RUNS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(makespans) < RUNS:
        raise SystemExit("a job has failed")
    return makespans


def measured(
    root: Path, pfs: Throttled, name: str, dumps: int, options: list[str]
) -> Outcome:
    jobs = Jobs(root, pfs, name)
    log = root / f"{name}.probe"
    since = time.time()
    with reading(pfs, log):
        makespans = side_by_side(jobs, dumps, options)
    device = Cumulative(pfs.written(since, time.time()))
    latencies = waits(sample.latency for sample in read_probe(log))
    if latencies is None:
        raise SystemExit("the reader has read nothing")
    aggregate = Cumulative(jobs.segments(*range(RUNS))).peak(LONG_WINDOW)
    return Outcome(device.peak(1.0), aggregate, sum(makespans) / RUNS, latencies)


def killed(
    root: Path, pfs: Throttled, limit: int, size: int, wait: float
) -> tuple[list[Segment], list[Segment], float]:
    """Four drains of a long dump, one of which is killed: segments of all, of those
    that are left, and when (epoch) it was."""
    jobs = Jobs(root, pfs, "killed")
    registry = root / "killed" / "registry"
    drains = [jobs.drain(n, *rates(limit, registry)) for n in range(RUNS)]
    for buffer in jobs.buffers:  # now, so that none is done before the last one begins
        dump(buffer / "step1", size)
    when = kill_one(drains, jobs.segments, wait)
    others = range(1, RUNS)
    while sum(s for _, _, s in jobs.segments(*others)) < (RUNS - 1) * size:
        time.sleep(0.1)
    for drain in drains[1:]:
        drain.terminate()
        if drain.wait():
            raise SystemExit(f"a drain ended with {drain.returncode}")
    return jobs.segments(*range(RUNS)), jobs.segments(*others), when


def kill_one(
    drains: list[subprocess.Popen[bytes]],
    segments: Callable[[int], list[Segment]],
    wait: float,
    kill: Callable[[subprocess.Popen[bytes]], None] = subprocess.Popen.kill,
) -> float:
    """Kill the first one ``wait`` seconds after each has drained something: when."""
    while not all(segments(number) for number in range(len(drains))):
        if any(drain.poll() is not None for drain in drains):
            raise SystemExit("one has ended before all drain")
        time.sleep(0.05)
    time.sleep(wait)
    when = time.time()
    kill(drains[0])
    drains[0].wait()
    return when


def speed(segments: list[Segment], since: float, until: float) -> float:
    """Bytes per second."""
    curve = Cumulative(segments)
    return (curve.at(until) - curve.at(since)) / (until - since)


def speeds_up_after(
    segments: list[Segment], when: float, limit: int, window: float = WINDOW
) -> float:
    """Seconds until ``segments`` have all of ``limit``, over a window."""
    curve = Cumulative(segments)
    end = segments[-1][1]
    later = when
    while later + window <= end:
        if curve.at(later + window) - curve.at(later) >= 0.95 * limit * window:
            return later - when
        later += 0.1
    return float("inf")


def main() -> int:
    dumps = next((int(word) for word in sys.argv[1:] if word.isdigit()), DUMPS)
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        root = Path(folder)
        with throttled(root, DEVICE, beneath="beneath" in sys.argv) as pfs:
            print(about(pfs, dumps), flush=True)
            return told(chain(compared(root, pfs, dumps), freed(root, pfs)))


def told(found: Iterable[tuple[str, bool]]) -> int:
    """Print each as it comes: 1 if a goal is missed."""
    kept = True
    for text, is_kept in found:
        kept = kept and is_kept
        print(text if is_kept else f"{text}: MISSED", flush=True)
    return 0 if kept else 1


def about(pfs: Throttled, dumps: int) -> str:
    return (
        f"{RUNS} times `pegasus-bb drain` of {dumps} dumps of {DUMP // MIB} MiB, one "
        f"each {INTERVAL:g} s, to a PFS of {DEVICE // MIB} MiB/s ({pfs.how}); the "
        f"limit is {LIMIT // MIB} MiB/s"
    )


def compared(root: Path, pfs: Throttled, dumps: int) -> Iterator[tuple[str, bool]]:
    now = measured(root, pfs, "now", dumps, ["--interval", "1s"])
    options = rates(LIMIT, root / "registry", INTERVAL)
    yield from judged(now, measured(root, pfs, "paced", dumps, options))


def judged(now: Outcome, paced: Outcome) -> Iterator[tuple[str, bool]]:
    """Sentences, and whether each goal is met."""
    over = paced.aggregate / LIMIT
    text = (
        f"all together have at most {over:.3f} times the limit over {LONG_WINDOW:g} s"
    )
    yield f"{text} (goal: {OVER})", over <= OVER
    less = now.peak / paced.peak
    text = f"busiest second of the PFS: {now.peak / MIB:.1f} MiB now, "
    text += f"{paced.peak / MIB:.1f} paced: {less:.2f} times less (goal: {LESS:g})"
    yield text, less >= LESS
    less = now.reader.p99 / paced.reader.p99
    text = f"p99 of a competing reader: {now.reader.p99 * 1e3:.0f} ms now, "
    text += (
        f"{paced.reader.p99 * 1e3:.0f} paced: {less:.2f} times less (goal: {LESS:g})"
    )
    yield text, less >= LESS
    longer = paced.makespan / now.makespan
    text = f"makespans: {now.makespan:.1f} s now, {paced.makespan:.1f} paced: "
    yield f"{text}{longer:.3f} times (goal: {LONGER})", longer <= LONGER


def freed(root: Path, pfs: Throttled) -> Iterator[tuple[str, bool]]:
    _, others, when = killed(root, pfs, LIMIT, LONG, BEFORE_KILL)
    yield sped_up(others, when)


def sped_up(others: list[Segment], when: float) -> tuple[str, bool]:
    before = speed(others, when - BEFORE_KILL / 2, when)
    soon = speeds_up_after(others, when, LIMIT)
    text = f"one is killed: the others had {before / LIMIT:.2f} of the limit, and have "
    return f"{text}all of it {soon:.1f} s later (goal: {SOON:g} s)", soon <= SOON


if __name__ == "__main__":
    sys.exit(main())
