"""How long planning takes, and how much memory: 1k, 10k and 100k jobs.

Each size is one generated workflow of the shape of 1000genome (fan out, merge, fan
out), written as YAML. A process of its own plans it in each mode, and in phases, and
explains it. Beside it stands the floor that the file system sets: as many files of the
size of a submit file, created by two processes that do nothing else. `make bench` runs
this; `--case` takes some of the cases.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from multiprocessing import Process
from pathlib import Path

from genome import WRITTEN, write_inputs

SIZES = (1_000, 10_000, 100_000)
PLAN = ("plan", "--dir", "submit", "--bb-planner", "builtin", "--quiet", "--bb-mode")
CASES = {
    "off": (*PLAN, "off"),
    "persistent": (*PLAN, "persistent"),
    "transient": (*PLAN, "transient"),
    "hybrid": (*PLAN, "hybrid"),
    "in phases": (*PLAN, "persistent", "--bb-capacity", "85"),  # per cent of the files
    "explain": ("explain", "--bb-mode", "persistent"),
    "compared": ("explain", "--bb-mode", "auto", "--bb-speeds", "speeds.yml"),
    "as JSON": ("explain", "--bb-mode", "hybrid", "--json"),
    "explain short": ("explain", "--bb-mode", "persistent", "--bb-capacity", "40"),
}
FOLDER = 1000  # submit files in one folder
SUBMIT_FILE = b"#" * 2048
ROUNDS = 3  # of what writes nothing: the least is the program's, the rest the machine's
GIB = 2.0  # what 100,000 jobs may take
TO_PLAN = 20.0  # seconds beyond creating the files
# seconds
TO_EXPLAIN = 5.0
TO_COMPARE = 10.0

COMMAND = "import sys; from pegasus_bb.cli import main; sys.exit(main())"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jobs", nargs="*", type=int, default=SIZES, metavar="JOBS")
    parser.add_argument("--case", choices=CASES, action="append", help="only these")
    options = parser.parse_args()
    print(
        f"{'jobs':>8} {'mode':<15} {'seconds':>8} {'ms/job':>8} {'CPU s':>7} "
        f"{'peak MiB':>9}"
    )
    met = True
    root = Path(tempfile.mkdtemp(prefix="pegasus-bb-bench-"))
    try:
        for jobs in options.jobs:
            write_inputs(root / str(jobs), jobs)
            files = floor(root / str(jobs) / "floor", jobs)
            print(f"{jobs:>8} {'files alone':<15} {files:>8.2f}", flush=True)
            for case in options.case or CASES:
                met &= measured(root / str(jobs), jobs, case, files)
    finally:
        # Not earlier: for minutes after many deletions ext4 looks at every inode that
        # was freed before it gives out a new one, and creates files ten times slower.
        shutil.rmtree(root)
    word = "met" if met else "MISSED"
    print(
        f"{word}: planned within {TO_PLAN:g} s beyond the files alone, explained "
        f"within {TO_EXPLAIN:g} s, modes compared within {TO_COMPARE:g} s, each in "
        f"{GIB:g} GiB"
    )
    return 0 if met else 1


def measured(root: Path, jobs: int, case: str, files: float) -> bool:
    """Plan, print a line, and say whether it was within what is promised.

    ``files``: the seconds that creating the files alone takes.
    """
    writes = CASES[case][0] == "plan"
    rounds = 1 if writes else ROUNDS
    seconds, cpu, mib = min(measure(root, jobs, case) for _ in range(rounds))
    print(
        f"{jobs:>8} {case:<15} {seconds:>8.2f} {1000 * seconds / jobs:>8.3f} "
        f"{cpu:>7.2f} {mib:>9.0f}",
        flush=True,
    )
    most = TO_PLAN + files if writes else TO_EXPLAIN
    most = TO_COMPARE if case == "compared" else most
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


if __name__ == "__main__":
    sys.exit(main())
