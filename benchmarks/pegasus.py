"""What planning on a buffer adds to a real pegasus-plan's own wall time: pairs.

Each pair plans one generated workflow twice: by pegasus-plan alone, and by the whole
command, which goes first in every other pair. Both plan the same kind of executable
workflow (sharedfs, transfers on the site, Kickstart changes folder). Needs PEGASUS_HOME
or a pegasus-plan on PATH; where there is no HTCondor, empty programs stand in for those
that pegasus-plan calls. Beside the wall time stands the CPU time, which tells more on a
machine that does other work as well.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from typing import NamedTuple

sys.path.append(str(Path(__file__).resolve().parent))

from genome import write_inputs

from pegasus_bb.planner.pegasus_home import PegasusHome, find_home

LIMIT = 15.0  # per cent
CONDOR = ("condor_submit_dag", "condor_version", "condor_config_val", "condor_dagman")
STUB = """#!/bin/sh
for word; do case "$word" in *.dag) : > "$word.condor.sub";; esac; done
"""
PROPERTIES = """\
pegasus.data.configuration = sharedfs
pegasus.transfer.*.remote.sites = cluster
pegasus.transfer.links = true
"""
COMMAND = "import sys; from pegasus_bb.cli import main; sys.exit(main())"
OURS = [sys.executable, "-c", COMMAND, "plan", "--bb-mode", "persistent"]
GIVEN = ("--sites", "cluster", "--output-sites", "local", "--dir", "submit")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jobs", nargs="*", type=int, default=[10_000], metavar="JOBS")
    parser.add_argument("--pairs", type=int, default=6, help="an even number is fair")
    options = parser.parse_args()
    home = find_home()
    if home is None:
        print("skipped: no PEGASUS_HOME and no pegasus-plan on PATH")
        return 0
    print(
        f"{'jobs':>7} {'pegasus-plan s':>15} {'with a buffer s':>16} {'added':>8} "
        f"{'CPU s':>7} {'added':>6}"
    )
    met = [measured(home, jobs, options.pairs) for jobs in options.jobs]
    return 0 if all(met) else 1


def measured(home: PegasusHome, jobs: int, pairs: int) -> bool:
    """Plan, print a line for each pair, and say whether the limit was kept."""
    root = Path(tempfile.mkdtemp(prefix="pegasus-bb-bench-"))
    try:
        plan = Planner(root, prepare(root, jobs, home.bin.parent))
        commands = ([home.tool("pegasus-plan")], OURS)
        for command in commands:  # once for the caches of files
            plan.seconds(command)
        added = []
        for number in range(pairs):
            turn = 1 if number % 2 == 0 else -1
            plain, whole = [plan.seconds(c) for c in commands[::turn]][::turn]
            added.append(100 * (whole.wall - plain.wall) / plain.wall)
            print(
                f"{jobs:>7} {plain.wall:>15.2f} {whole.wall:>16.2f} {added[-1]:>6.1f} %"
                f" {plain.cpu:>7.2f} {whole.cpu - plain.cpu:>6.2f}",
                flush=True,
            )
        middle = statistics.median(added)
        print(f"{jobs:>7} median of the pairs: {middle:.1f} % (limit {LIMIT:g} %)")
        return middle <= LIMIT
    finally:
        # Not earlier: after many deletions ext4 is slow at making files (planning.py).
        shutil.rmtree(root)


def prepare(root: Path, jobs: int, pegasus: Path) -> dict[str, str]:
    """Inputs, a home for Pegasus's database, and what it calls of HTCondor."""
    write_inputs(root / "w", jobs)
    sites = (root / "w" / "sites.yml").read_text()
    env = f"  profiles:\n    env: {{PEGASUS_HOME: {pegasus}}}\n    pegasus:"
    sites = sites.replace("  profiles:\n    pegasus:", env)
    (root / "w" / "sites.yml").write_text(sites)
    (root / "w" / "pegasus.properties").write_text(PROPERTIES)
    (root / "bin").mkdir()
    for name in CONDOR:
        if shutil.which(name) is None:
            (root / "bin" / name).write_text(STUB)
            (root / "bin" / name).chmod(0o755)
    path = f"{root / 'bin'}:{os.environ['PATH']}"
    said = {"HOME": str(root), "PATH": path, "PEGASUS_METRICS": "false"}
    # As where pip has installed it: the first run compiles our modules, as pip does.
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, **said}


class Times(NamedTuple):
    """Seconds of one planning, those of all its processes for ``cpu``."""

    wall: float
    cpu: float


class Planner:
    """Plans the workflow below ``root``, into a new folder each time."""

    def __init__(self, root: Path, environment: dict[str, str]) -> None:
        self._work, self._environment, self._runs = root / "w", environment, count()

    def seconds(self, command: list[str]) -> Times:
        """Times of one planning by ``command``."""
        given = [*GIVEN, "--relative-submit-dir", f"r{next(self._runs)}"]
        before = os.times()
        begun = time.monotonic()
        done = subprocess.run(
            [*command, *given, "workflow.yml"],
            cwd=self._work,
            env=self._environment,
            capture_output=True,
            text=True,
        )
        wall = time.monotonic() - begun
        after = os.times()
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)
        user = after.children_user - before.children_user
        return Times(wall, user + after.children_system - before.children_system)


if __name__ == "__main__":
    sys.exit(main())
