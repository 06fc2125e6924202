"""Predictions of runs on a testbed: Slurm, HTCondor and DataWarp. Needs root.

Each example runs in mode off and in mode persistent. Each side is predicted from a run
of the other one. The error is as in docs/prediction.md. It takes some ten minutes. On a
busy machine a run may not end in its time: then the example is not measured, and the
next one is.

python -m benchmarks.predicted_on_testbed
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from pegasus_bb_testbed import testbed
from pegasus_bb_testbed.home import DEFAULT, Home
from pegasus_bb_testbed.namespace import call

from benchmarks.fidelity_cases import ERROR, Forecast
from pegasus_bb.core.errors import PegasusBBError, UsageError
from pegasus_bb.report.run_folder import read_run
from testbed.tests.shared_testbed import turn, up, what_is_missing
from testbed.tests.workflow_runner import ExampleRunner

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from demo_speeds import write_speeds

MODES = {"pfs": "off", "bb": "persistent"}
SPEEDS = "speeds.yml"
CONF = ("--conf", "pegasus.properties")
SLOTS = 2
_PATIENCE = 900.0  # seconds for one run, which takes two minutes on an idle machine


class Runner(ExampleRunner):
    """Tasks that take seconds, so that there is something to predict."""

    SMALL: ClassVar = {
        "cybershake": "--points 1500 --timesteps 1500 --ruptures 40 --processes 1",
        "1000genome": "--rows 1000 --chromosomes 1 --individuals-jobs 4"
        " --populations EUR AFR",
    }

    def explained(self, run: str) -> dict[str, Any]:
        """Mode -> what is predicted of it by the run ``run``."""
        argv = [*CONF, "--sites", "cluster", "--output-sites", "local"]
        argv += ["--bb-speeds", SPEEDS, "--bb-mode", "persistent"]
        argv += ["--bb-history", str(self.submit_dir(run))]
        done = self.bb("explain", *argv, "--json", "workflow.yml", timeout=300.0)
        if done.status:
            raise PegasusBBError(done.err)
        found = json.loads(done.out)["predicted"]
        return {mode["mode"]: mode for mode in found["modes"]}


def main() -> int:
    """1 where a goal is missed."""
    is_met = True
    try:
        for found in of_testbed():
            say(str(found))
            is_met &= isinstance(found, Forecast) and abs(found.error) <= ERROR
    except (PegasusBBError, UsageError) as error:
        say(f"predictions on a testbed: not measured: {error}")
    return 0 if is_met else 1


def of_testbed() -> Iterator[Forecast | str]:
    """Yield forecasts, and a line for each example that was not measured. Raises
    UsageError where there can be no testbed."""
    home = Home(DEFAULT)
    if missing := what_is_missing(home):
        raise UsageError(missing)
    with turn(home):
        fresh = up(home)
        try:
            for name in Runner.SMALL:
                yield from of_example(home, name)
        finally:
            if fresh:
                testbed.down(home)


def of_example(home: Home, name: str) -> Iterator[Forecast | str]:
    try:
        yield from forecasts(home, name)
    except AssertionError as error:  # of the runner: a run failed, or had no end
        call(home, ["condor_rm", "-all"])
        yield f"{name}: not measured: {error}  MISSED"


def forecasts(home: Home, name: str) -> Iterator[Forecast]:
    """Run both sides; each is forecast from the other one."""
    shutil.rmtree(home.work / "dagman-tests" / "builtin" / name, ignore_errors=True)
    runner = Runner(home, name, "builtin")
    took = {}
    for run, mode in MODES.items():
        runner.planned(run, *CONF, "--bb-mode", mode)
        took[run] = run_of(runner, name, run)
    scratch = runner.root / "pfs"
    write_speeds(runner.work / SPEEDS, {"pfs": scratch, "bb": scratch}, SLOTS)
    for side, other in (("bb", "pfs"), ("pfs", "bb")):
        found = runner.explained(other)[MODES[side]]
        what = f"testbed: {name}, {side}, by {other}"
        yield Forecast(what, found["low"], found["high"], [took[side]])


def run_of(runner: Runner, name: str, run: str) -> float:
    """The makespan of a run to its end, however it is predicted."""
    load = os.getloadavg()[0]
    begun = time.monotonic()
    say(f"{name}, {run}: it runs, load average {load:.1f}")
    done = runner.start(run).end(_PATIENCE)
    assert done.status == 0, done.err
    found = read_run(runner.submit_dir(run)).makespan
    assert found is not None, "no makespan is known"
    waited = time.monotonic() - begun
    say(f"{name}, {run}: it took {found:.0f} s, {waited:.0f} s with its start and end")
    return found


def say(line: str) -> None:
    """At once, also into a pipe: a bench that is ended has said how far it came."""
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
