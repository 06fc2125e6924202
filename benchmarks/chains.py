"""Files that stay on their node: workflows with chains and without, on one PFS, and
beside them Snakemake 9, Parsl and Dask on the same folder.

python -m benchmarks.chains [PAIRS] [TASKS] [TRACE]

PAIRS: runs of ours with chains and without; the others run once. TASKS: of the
map-reduce. TRACE, else $WFINSTANCE: a trace of WfInstances, such as a Montage. As root,
where cgroups throttle: the folder is on a device whose writes the kernel limits to RATE
(throttled.py); a file is created, renamed or removed there when the device has it,
which is some 1,500 times a second. Reads come from memory, and node disks are memory.
So a ratio says what writes and such calls cost, and nothing of reads. Chains know run
times from the first run, which has none, and rates from the site catalog. A ratio is
that of the medians, and the time ends when nothing is left to write to the device.
TMPDIR is on that folder for all, unless the tier has it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks import chain_peers
from benchmarks.chain_shapes import (
    MIB,
    TASK,
    Shape,
    map_reduce,
    of_trace,
    producers,
    temporary_files,
)
from benchmarks.throttled import MEMORY, Loop, Throttled, throttled
from tests.support.shebang import shebang
from tests.support.user_site import Site

RATE = 48 * MIB  # bytes per second
OPTIONS = "noatime,dirsync"  # of the mount
PAIRS, TASKS = 3, 500
SLOTS = "2"
# As a site declares them.
PFS = {"read": "2GB/s", "write": f"{RATE // 1000}KB/s"}
NVME = {"read": "2GB/s", "write": "2GB/s"}
OURS = "chains"
_INPUTS = "bench-inputs"  # in the folder of the PFS
_PIECE = b"input" * 8192


class Outcome(NamedTuple):
    seconds: float  # of the run
    written: int  # bytes to the PFS
    digest: str  # of all results


def workflow(shape: Shape) -> dict[str, Any]:
    jobs = []
    results = shape.results
    for step in shape.steps:
        uses: list[dict[str, Any]] = [{"lfn": x, "type": "input"} for x in step.inputs]
        for out, size in step.outputs.items():
            made = {"lfn": out, "type": "output", "metadata": {"size": size}}
            uses.append({**made, "stageOut": out in results, "registerReplica": False})
        job = {"type": "job", "name": "mix", "id": f"J-{step.name}", "uses": uses}
        jobs.append({**job, "arguments": step.words})
    return {"pegasus": "5.0.4", "name": "chains", "jobs": jobs}


def declared(site: Site, pfs: Throttled, shape: Shape) -> None:
    """Inputs are on the PFS, and read there by all."""
    disk = site.root / "nvme"
    disk.mkdir(exist_ok=True)
    sites = site.document("sites.yml")
    tier = {"name": "nvme", "backend": "node-local", "path": str(disk), "mount": "any"}
    sites["x-storage-tiers"]["cluster"] = [{**tier, "inputs": "link"}]
    site.save("sites.yml", sites)
    _task(site).write_text(TASK.format(shebang=shebang("-IS")))
    site.save("workflow.yml", workflow(shape))
    inputs = pfs.folder / _INPUTS
    inputs.mkdir(exist_ok=True)
    _write_inputs(shape, inputs)
    pfns = {lfn: str(inputs / lfn) for lfn in shape.inputs}
    replicas = [
        {"lfn": lfn, "pfns": [{"site": "cluster", "pfn": pfn}]}
        for lfn, pfn in pfns.items()
    ]
    site.save("replicas.yml", {"pegasus": "5.0", "replicas": replicas})
    speeds = {"slots": int(SLOTS), "pfs": PFS, "nvme": NVME}
    site.save("speeds.yml", {"cluster": speeds})


def _task(site: Site) -> Path:
    return site.root / "mix.py"


def _write_inputs(shape: Shape, folder: Path) -> None:
    for lfn, size in shape.inputs.items():
        with (folder / lfn).open("wb") as file:
            for at in range(0, size, len(_PIECE)):
                file.write(_PIECE[: size - at])


def ours(site: Site, pfs: Throttled, shape: Shape, chains: str, name: str) -> Outcome:
    site.declare(temp=chains != "off")
    more = ["--bb-mode", "transient", "--bb-chains", chains, "--bb-poll", "1s"]
    earlier = site.submit_dir(f"{name.rsplit('-', 2)[0]}-0-0")
    if earlier.is_dir():
        more += ["--bb-history", str(earlier), "--bb-speeds", "speeds.yml"]
    site.planned(name, *more)
    os.sync()
    begun = time.time()
    if site.start_run(name, "--slots", SLOTS).wait():
        raise SystemExit(f"a run has failed: {site.submit_dir(name)}")
    os.sync()
    return _outcome(pfs, begun, site.content(name))


def by_peer(site: Site, pfs: Throttled, shape: Shape, peer: str, name: str) -> Outcome:
    here, folder = site.root / f"{name}.own", pfs.folder / name
    here.mkdir()
    folder.mkdir()
    for lfn in shape.inputs:
        os.link(pfs.folder / _INPUTS / lfn, folder / lfn)
    argv, environ = chain_peers.command(peer, shape, _task(site), folder, here)
    os.sync()
    begun = time.time()
    done = subprocess.run(argv, cwd=here, env=environ, capture_output=True, text=True)
    os.sync()
    if done.returncode:
        raise SystemExit(f"{peer} has failed:\n{(done.stdout + done.stderr)[-3000:]}")
    content = {lfn: (folder / lfn).read_bytes() for lfn in shape.results}
    found = _outcome(pfs, begun, content)
    shutil.rmtree(folder)
    shutil.rmtree(here)
    return found


def _outcome(pfs: Throttled, begun: float, content: Mapping[str, bytes]) -> Outcome:
    ended = time.time()
    written = sum(size for _, _, size in pfs.written(begun, ended))
    every = b"".join(data for _, data in sorted(content.items()))
    return Outcome(ended - begun, int(written), hashlib.sha256(every).hexdigest())


Run = Callable[[Site, Throttled, Shape, str, str], Outcome]


def kinds() -> dict[str, Callable[[Site, Throttled, Shape, str], Outcome]]:
    found: dict[str, Any] = {}
    for chains in ("off", "auto"):
        found[f"{OURS} {chains}"] = _kind(ours, chains)
    why = chain_peers.installed(chain_peers.home())
    if why:
        print(f"Snakemake, Parsl and Dask: left out, {why}")
        return found
    for peer in chain_peers.PEERS:
        program = chain_peers.NEEDS.get(peer)
        if program and not shutil.which(program):
            print(f"{peer}: left out, it needs {program}")
            continue
        found[f"{peer} {chain_peers.version(peer)}"] = _kind(by_peer, peer)
    return found


def _kind(run: Run, word: str) -> Callable[[Site, Throttled, Shape, str], Outcome]:
    return lambda site, pfs, shape, name: run(site, pfs, shape, word, name)


def compared(site: Site, pfs: Throttled, shape: Shape, pairs: int) -> Iterator[bool]:
    declared(site, pfs, shape)
    runs = kinds()
    found: dict[str, list[Outcome]] = {kind: [] for kind in runs}
    for number in range(pairs):
        for place, (kind, run) in enumerate(runs.items()):
            if number and not kind.startswith(OURS):
                continue
            name = f"{shape.name.split()[0]}-{place}-{number}"
            found[kind].append(last := run(site, pfs, shape, name))
            told = f"{last.seconds:.1f} s, {last.written / MIB:,.0f} MiB written"
            print(f"  {shape.name}, {kind}: {told}", flush=True)
    seconds = {kind: median(x.seconds for x in each) for kind, each in found.items()}
    off, on, *_ = seconds.values()
    same = len({each.digest for runs in found.values() for each in runs}) == 1
    print(
        f"{shape.name}, {len(shape.steps)} tasks: {off:.1f} s -> {on:.1f} s, "
        f"{off / on:.2f}x (goal {shape.goal}x); results "
        f"{'are the same' if same else 'DIFFER'}",
        flush=True,
    )
    for kind, other in list(seconds.items())[2:]:
        print(f"  {kind}: {other:.1f} s, {other / on:.2f} times as long", flush=True)
    print(f"  the fastest: {min(seconds, key=lambda kind: seconds[kind])}", flush=True)
    yield same and off / on >= shape.goal


def shapes(tasks: int, trace: str) -> Iterator[Shape]:
    yield producers()
    yield temporary_files()
    yield map_reduce(tasks)
    if not trace:
        print("a trace of WfInstances: left out, none is named ($WFINSTANCE)")
        return
    shape, factor = of_trace(Path(trace))
    print(f"{shape.name}: sizes times {factor:.3g}, and no run times")
    yield shape


def main() -> int:
    pairs, tasks, trace = (*sys.argv[1:], *("",) * 3)[:3]
    trace = trace or os.environ.get("WFINSTANCE", "")
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        root = Path(folder)
        with throttled(root, RATE, options=OPTIONS) as pfs:
            if not isinstance(pfs, Loop):
                print("chains: left out, no device can be throttled here")
                return 0
            print(f"writes at {RATE / MIB:.0f} MiB/s: {pfs.how}, {OPTIONS}", flush=True)
            site = Site(root)
            temporary = pfs.folder / "tmp"
            temporary.mkdir()
            os.environ["TMPDIR"] = str(temporary)
            every = partial(compared, site, pfs, pairs=int(pairs or PAIRS))
            wanted = shapes(int(tasks or TASKS), trace)
            good = [ok for shape in wanted for ok in every(shape)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
