"""How long planning takes, and how much memory: 1k, 10k and 100k jobs.

Each size is one generated workflow of the shape of 1000genome (fan out, merge, fan
out), written as YAML and planned by the whole command in a process of its own: with the
burst buffer off, with a persistent one, with one for each job, with one for all and
rooms for some, and with one that cannot hold all files at once, so that the jobs run in
phases. Then it is only placed, sized
and explained, also where no phases help and files are chosen that go to the PFS. `make
bench` runs this. Beside it stands the floor that the file system sets: as many files of
the size of a submit file, created by two processes that do nothing else.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from multiprocessing import Process
from pathlib import Path

SIZES = (1_000, 10_000, 100_000)
PLAN = ("plan", "--dir", "submit", "--bb-planner", "builtin", "--quiet", "--bb-mode")
CASES = {
    "off": (*PLAN, "off"),
    "persistent": (*PLAN, "persistent"),
    "transient": (*PLAN, "transient"),
    "hybrid": (*PLAN, "hybrid"),
    "in phases": (*PLAN, "persistent", "--bb-capacity", "85"),  # per cent of the files
    "explain": ("explain",),
    "each its own": ("explain", "--bb-mode", "transient"),
    "some their own": ("explain", "--bb-mode", "hybrid"),
    "explain short": ("explain", "--bb-capacity", "40"),
    "without inplace": ("explain", "--bb-capacity", "40", "--cleanup", "leaf"),
}
WIDTH = 100  # jobs of one chromosome
FAN_IN = 20  # of them, those that its merge job waits for
FOLDER = 1000  # submit files in one folder
SUBMIT_FILE = b"#" * 2048
WRITTEN = 500_000  # bytes that each job writes
SECONDS, GIB = 10.0, 2.0  # what planning 100,000 jobs may take
TO_EXPLAIN = 5.0  # seconds

SITES = """\
pegasus: "5.0"
sites:
- name: local
  directories:
  - type: localStorage
    path: {root}/results
    fileServers: [{{url: "file://{root}/results", operation: all}}]
- name: cluster
  directories:
  - type: sharedScratch
    path: {root}/scratch
    fileServers: [{{url: "file://{root}/scratch", operation: all}}]
  profiles:
    pegasus: {{style: condor, data.configuration: sharedfs}}
x-storage-tiers:
  cluster:
  - name: bb
    backend: directory
    path: {root}/fast
    quota: 900TiB
    capacity: auto
"""
TRANSFORMATIONS = """\
pegasus: "5.0"
transformations:
- name: individuals
  sites: [{name: cluster, pfn: /opt/bin/individuals, type: installed}]
- name: merge
  sites: [{name: cluster, pfn: /opt/bin/merge, type: installed}]
- name: overlap
  sites: [{name: cluster, pfn: /opt/bin/overlap, type: installed}]
"""
COMMAND = "import sys; from pegasus_bb.cli import main; sys.exit(main())"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jobs", nargs="*", type=int, default=SIZES, metavar="JOBS")
    parser.add_argument("--keep", type=Path, help="work here and leave it there")
    options = parser.parse_args()
    print(
        f"{'jobs':>8} {'mode':<15} {'seconds':>8} {'ms/job':>8} {'CPU s':>7} "
        f"{'peak MiB':>9}"
    )
    met = True
    root = options.keep or Path(tempfile.mkdtemp(prefix="pegasus-bb-bench-"))
    try:
        for jobs in options.jobs:
            for case in CASES:
                met &= measured(root / str(jobs), jobs, case)
            seconds = floor(root / str(jobs) / "floor", jobs)
            print(f"{jobs:>8} {'files alone':<15} {seconds:>8.2f}", flush=True)
    finally:
        # Not earlier: for minutes after many deletions ext4 looks at every inode that
        # was freed before it gives out a new one, and creates files ten times slower.
        if options.keep is None:
            shutil.rmtree(root)
    word = "met" if met else "MISSED"
    print(
        f"{word}: each of these within {SECONDS:g} s and {GIB:g} GiB, explained within "
        f"{TO_EXPLAIN:g} s"
    )
    return 0 if met else 1


def measured(root: Path, jobs: int, case: str) -> bool:
    """Plan, print a line, and say whether it was within what is promised."""
    write_inputs(root, jobs)
    seconds, cpu, mib = measure(root, jobs, case)
    print(
        f"{jobs:>8} {case:<15} {seconds:>8.2f} {1000 * seconds / jobs:>8.3f} "
        f"{cpu:>7.2f} {mib:>9.0f}",
        flush=True,
    )
    most = SECONDS if CASES[case][0] == "plan" else TO_EXPLAIN
    return jobs > SIZES[-1] or (seconds <= most and mib <= GIB * 1024)


def measure(root: Path, jobs: int, case: str) -> tuple[float, float, float]:
    """Seconds on the wall, seconds of CPU and peak resident MiB of one command."""
    arguments = list(CASES[case])
    if "--bb-capacity" in arguments:
        place = arguments.index("--bb-capacity") + 1
        arguments[place] = str(int(arguments[place]) * WRITTEN * jobs // 100)
    if arguments[0] == "plan":
        arguments += ["--relative-submit-dir", case.replace(" ", "-")]
    arguments += ["--sites", "cluster", "--output-sites", "local", "workflow.yml"]
    begun = time.monotonic()
    child = os.fork()
    if child == 0:
        os.chdir(root)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execv(sys.executable, [sys.executable, "-c", COMMAND, *arguments])  # noqa: S606
    _, status, usage = os.wait4(child, 0)
    seconds = time.monotonic() - begun
    if status != 0:
        sys.exit(f"{case} of {root} failed with {os.waitstatus_to_exitcode(status)}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def floor(root: Path, files: int) -> float:
    """Seconds in which two processes create so many files, folder by folder."""
    begun = time.monotonic()
    workers = [
        Process(target=create_files, args=(root / str(half), files // 2))
        for half in range(2)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return time.monotonic() - begun


def create_files(root: Path, files: int) -> None:
    for number in range(files):
        folder = root / f"{number // FOLDER:04d}"
        if number % FOLDER == 0:
            folder.mkdir(parents=True)
        (folder / f"{number}.sub").write_bytes(SUBMIT_FILE)


def write_inputs(root: Path, jobs: int) -> None:
    """Workflow and catalogs; the workflow is YAML, as Pegasus's own API writes it."""
    if (root / "workflow.yml").exists():
        return
    root.mkdir(parents=True)
    (root / "sites.yml").write_text(SITES.format(root=root))
    (root / "transformations.yml").write_text(TRANSFORMATIONS)
    source = f"{root}/inputs"
    with (root / "replicas.yml").open("w") as out:
        out.write('pegasus: "5.0"\nreplicas:\n')
        for number in range(-(-jobs // WIDTH)):
            lfn = f"chr{number}.vcf"
            out.write(f"- lfn: {lfn}\n  metadata: {{size: 1000000}}\n")
            out.write(f"  pfns:\n  - site: cluster\n    pfn: {source}/{lfn}\n")
    with (root / "workflow.yml").open("w") as out:
        out.write(
            'x-pegasus:\n  apiLang: python\npegasus: "5.0"\nname: genome\njobs:\n'
        )
        out.writelines(job_lines(jobs))


def job_lines(jobs: int) -> Iterator[str]:
    """Per chromosome: individuals of a file, a merge of them, overlaps of the merge."""
    for number in range(jobs):
        chromosome, place = divmod(number, WIDTH)
        reads, name = [f"chr{chromosome}.vcf"], "individuals"
        writes, stage_out = f"part-{chromosome}-{place}.gz", "false"
        if place == FAN_IN:
            reads = [f"part-{chromosome}-{n}.gz" for n in range(place)]
            name, writes = "merge", f"chr{chromosome}.gz"
        elif place > FAN_IN:
            reads, name = [f"chr{chromosome}.gz"], "overlap"
            writes, stage_out = f"overlap-{chromosome}-{place}.gz", "true"
        yield f"- type: job\n  name: {name}\n  id: ID{number + 1:07d}\n"
        yield f"  arguments:\n  - {reads[0]}\n  - {writes}\n  uses:\n"
        for lfn in reads:
            yield f"  - lfn: {lfn}\n    type: input\n"
        yield (
            f"  - lfn: {writes}\n    type: output\n    stageOut: {stage_out}\n"
            "    registerReplica: false\n    metadata:\n"
            f"      size: {WRITTEN}\n"
        )
    yield "jobDependencies: []\n"


if __name__ == "__main__":
    sys.exit(main())
