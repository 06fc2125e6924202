"""Predictions of runs on a testbed: Slurm, HTCondor and DataWarp. Needs root.

Each example runs in mode off and in mode persistent. Each side is predicted from a run
of the other one, and both sides by both. The error is as in docs/prediction.md.

python -m tests.bench.predicted_on_testbed
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from pegasus_bb.errors import PegasusBBError, UsageError
from pegasus_bb.report.submitdir import read_run
from pegasus_bb.testbed import testbed
from pegasus_bb.testbed.home import DEFAULT, Home
from tests.testbed.shared_testbed import turn, up, what_is_missing
from tests.testbed.workflow_runner import ExampleRunner

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
from demo_speeds import write_speeds

ERROR = 0.25
MODES = {"pfs": "off", "bb": "persistent"}
SPEEDS = "speeds.yml"
CONF = ("--conf", "pegasus.properties")
SLOTS = 2


class Runner(ExampleRunner):
    """Tasks that take seconds, so that there is something to predict."""

    SMALL: ClassVar = {
        "cybershake": "--points 1500 --timesteps 1500 --ruptures 40 --processes 1",
        "1000genome": "--rows 1000 --chromosomes 1 --individuals-jobs 4"
        " --populations EUR AFR",
    }

    def explained(self, *histories: str) -> dict[str, Any]:
        """Mode -> what is predicted of it by the runs ``histories``."""
        argv = [*CONF, "--sites", "cluster", "--output-sites", "local"]
        argv += ["--bb-speeds", SPEEDS, "--bb-mode", "persistent"]
        for run in histories:
            argv += ["--bb-history", str(self.submit_dir(run))]
        done = self.bb("explain", *argv, "--json", "workflow.yml")
        if done.status:
            raise PegasusBBError(done.err)
        found = json.loads(done.out)["predicted"]
        return {mode["mode"]: mode for mode in found["modes"]}


def main() -> int:
    """1 where a goal is missed."""
    home, is_met = Home(DEFAULT), True
    try:
        if missing := what_is_missing(home):
            raise UsageError(missing)
        with turn(home):
            fresh = up(home)
            try:
                for name in Runner.SMALL:
                    is_met &= all(list(is_near(home, name)))
            finally:
                if fresh:
                    testbed.down(home)
    except (PegasusBBError, UsageError) as error:
        print(f"predictions on a testbed: not measured: {error}")
    return 0 if is_met else 1


def is_near(home: Home, name: str) -> Iterator[bool]:
    """Run both sides; for each prediction, whether it is near enough."""
    shutil.rmtree(home.work / "dagman-tests" / "builtin" / name, ignore_errors=True)
    runner = Runner(home, name, "builtin")
    took = {}
    for run, mode in MODES.items():
        runner.planned(run, *CONF, "--bb-mode", mode)
        runner.run_well(run)
        took[run] = read_run(runner.submit_dir(run)).makespan
    scratch = runner.root / "pfs"
    write_speeds(runner.work / SPEEDS, {"pfs": scratch, "bb": scratch}, SLOTS)
    for side, histories in (
        ("bb", ["pfs"]),
        ("pfs", ["bb"]),
        *((side, ["pfs", "bb"]) for side in MODES),
    ):
        yield told(name, side, runner.explained(*histories), histories, took[side])


def told(
    name: str, side: str, found: dict[str, Any], histories: list[str], took: float
) -> bool:
    """Print it; whether the nearer end of what was predicted is near enough."""
    each = found[MODES[side]]
    low, high = each["low"], each["high"]
    nearest = min(max(took, low), high)
    error = nearest / took - 1
    is_met = abs(error) <= ERROR
    print(
        f"{name}, {side} from {' and '.join(histories)}: {low:.0f} to {high:.0f} s, "
        f"measured {took:.0f} s ({error:+.0%}){'' if is_met else '  MISSED'}"
    )
    return is_met


if __name__ == "__main__":
    sys.exit(main())
