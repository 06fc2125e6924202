"""What planning on a buffer adds to a real pegasus-plan's own wall time: pairs.

Each pair plans one generated workflow twice: by pegasus-plan alone, and by the whole
command. Both plan the same kind of executable workflow (sharedfs, transfers on the
site, Kickstart changes folder). Needs PEGASUS_HOME or a pegasus-plan on PATH; where
there is no HTCondor, empty programs stand in for those that pegasus-plan calls.
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
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent))

from planning import write_inputs

from pegasus_bb.planner.pegasus import find_home

LIMIT = 5.0  # per cent
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
GIVEN = ("--sites", "cluster", "--output-sites", "local", "--dir", "submit")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "jobs", nargs="*", type=int, default=[10_000, 30_000], metavar="JOBS"
    )
    parser.add_argument("--pairs", type=int, default=3)
    options = parser.parse_args()
    home = find_home(os.environ)
    if home is None:
        print("skipped: no PEGASUS_HOME and no pegasus-plan on PATH")
        return 0
    ours = [sys.executable, "-c", COMMAND, "plan", "--bb-mode", "persistent"]
    met = True
    print(f"{'jobs':>7} {'pegasus-plan s':>15} {'with a buffer s':>16} {'added':>8}")
    for jobs in options.jobs:
        root = Path(tempfile.mkdtemp(prefix="pegasus-bb-bench-"))
        try:
            environment = prepare(root, jobs, home.bin.parent)
            added = []
            for _ in range(options.pairs):
                plain = seconds([home.tool("pegasus-plan")], root / "w", environment)
                whole = seconds(ours, root / "w", environment)
                added.append(100 * (whole - plain) / plain)
                print(f"{jobs:>7} {plain:>15.2f} {whole:>16.2f} {added[-1]:>6.1f} %")
            middle = statistics.median(added)
            met &= middle <= LIMIT
            print(f"{jobs:>7} median of the pairs: {middle:.1f} % (limit {LIMIT:g} %)")
        finally:
            shutil.rmtree(root)
    return 0 if met else 1


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
    return {**os.environ, "HOME": str(root), "PATH": path, "PEGASUS_METRICS": "false"}


def seconds(command: list[str], work: Path, environment: dict[str, str]) -> float:
    """Wall time of one planning into an empty folder."""
    shutil.rmtree(work / "submit", ignore_errors=True)
    begun = time.monotonic()
    done = subprocess.run(
        [*command, *GIVEN, "--relative-submit-dir", "r", "workflow.yml"],
        cwd=work,
        env=environment,
        capture_output=True,
        text=True,
    )
    taken = time.monotonic() - begun
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    return taken


if __name__ == "__main__":
    sys.exit(main())
