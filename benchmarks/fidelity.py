"""How far forecasts are off: what some runs show, left out of others.

Both sides of both examples run on this machine, each workload several times, all in
turn: other programs slow all of them alike. One thing differs from the base: the data,
their size, or how many jobs run at the same time. Each is forecast from the runs of the
base, and the base from those with one job at a time. Runs that others published and
recorded are forecast too; and on a testbed, where there can be one, each side from the
other. Printed are the error of each forecast, whether its range holds what was
measured, and whether ``auto`` would have taken the faster mode.

Use an idle machine: half an hour, ten minutes of it on the testbed.

    PEGASUS_BB_TRACES=FOLDER python -m benchmarks.fidelity
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import fmean
from typing import NamedTuple, TypeVar

from benchmarks.fidelity_cases import Choice, Forecast, goals
from benchmarks.fidelity_published import of_papers
from benchmarks.fidelity_traces import of_traces
from benchmarks.predicted_on_testbed import of_testbed
from pegasus_bb.core.errors import PegasusBBError, UsageError
from pegasus_bb.model.mean_and_error import Pair, stat
from pegasus_bb.report.run_folder import read_run

EXAMPLES = Path(__file__).parents[1] / "examples"
sys.path.insert(0, str(EXAMPLES))
from demo_speeds import write_speeds  # noqa: E402

RUNS = 3  # of each workload on each side
MODES = {"pfs": "off", "bb": "persistent"}
SITE = ("--conf", "pegasus.properties", "--sites", "cluster", "--output-sites", "local")
Line = TypeVar("Line")


class Workload(NamedTuple):
    example: str
    name: str = "base"
    seed: int = 1
    size: int = 1  # times that of the base
    slots: int = 2

    @property
    def words(self) -> list[str]:
        """What its generator is told."""
        if self.example == "cybershake":
            words = ["--timesteps", str(1000 * self.size)]
        else:
            words = ["--chromosomes", "1", "--rows", str(1000 * self.size)]
        return ["--seed", str(self.seed), *words]


BASES = Workload("1000genome"), Workload("cybershake")
LEFT_OUT = (
    Workload("1000genome", "another chromosome", seed=2),
    Workload("1000genome", "twice the size", size=2),
    Workload("1000genome", "one job at a time", slots=1),
    Workload("cybershake", "another rupture list", seed=2),
    Workload("cybershake", "twice the size", size=2),
    Workload("cybershake", "one job at a time", slots=1),
)


def main() -> int:
    """1 where a goal is missed."""
    with (
        tempfile.TemporaryDirectory(dir="/var/tmp") as disk,
        tempfile.TemporaryDirectory(dir="/dev/shm") as memory,
    ):
        public = list(printed(of_papers(Path(disk, "papers"))))
        public += printed(of_traces(Path(disk, "traces")))
        here = list(printed(of_examples(Path(disk), Path(memory))))
        here += printed(on_a_testbed())
    found = list(
        goals(
            [each for each in here if isinstance(each, Forecast)],
            [each for each in public if isinstance(each, Forecast)],
            [each for each in here if isinstance(each, Choice)],
        )
    )
    for goal, is_met in found:
        print(f"{goal}{'' if is_met else '  MISSED'}", flush=True)
    return 0 if all(is_met for _, is_met in found) else 1


def printed(lines: Iterable[Line]) -> Iterator[Line]:
    for line in lines:
        print(line, flush=True)
        yield line


def on_a_testbed() -> Iterator[Forecast | str]:
    try:
        yield from of_testbed()
    except (PegasusBBError, UsageError) as error:
        yield f"a testbed: left out: {error}"


def of_examples(disk: Path, memory: Path) -> Iterator[Forecast | Choice]:
    for base in BASES:
        others = [each for each in LEFT_OUT if each.example == base.example]
        every = {each: Generated(disk, memory, each) for each in (base, *others)}
        for _ in range(RUNS):
            for generated in every.values():
                for side in MODES:
                    generated.run(side)
        for other in others:
            yield from every[other].forecasts(every[base])
            if other.slots < base.slots:
                yield from every[base].forecasts(every[other])


class Explained(NamedTuple):
    ends: dict[str, tuple[float, float]]  # by mode
    choice: str
    reason: str


class Generated:
    """A generated workload of an example, and its runs on each side."""

    def __init__(self, disk: Path, memory: Path, workload: Workload) -> None:
        self.workload = workload
        self.runs: dict[str, list[Path]] = {side: [] for side in MODES}
        name = f"{workload.example}-{workload.name}".replace(" ", "-")
        self.home, self.tier = disk / name, memory / name
        self.tier.mkdir()
        generator = EXAMPLES / workload.example / "workflow_generator.py"
        words = ["--output-dir", str(self.home), "--tier-path", str(self.tier)]
        words += ["--scratch", str(self.home / "scratch"), *workload.words]
        called(disk, sys.executable, str(generator), *words)

    def run(self, side: str) -> None:
        """Plan and run."""
        name = f"{side}-{len(self.runs[side])}"
        places = ["--output-dir", f"results-{name}", "--dir", "."]
        places += ["--relative-submit-dir", name]
        how = ["--bb-planner", "builtin", "--bb-mode", MODES[side], "--bb-poll", "1s"]
        command(self.home, "plan", *SITE, *places, *how, "workflow.yml")
        slots = str(self.workload.slots)
        command(self.home, "run", "--engine", "local", "--slots", slots, name)
        self.runs[side].append(self.home / name)

    def forecasts(self, known: Generated) -> Iterator[Forecast | Choice]:
        """From the runs ``known`` of both sides, then from those on the PFS alone."""
        took = {side: [*map(read_makespan, runs)] for side, runs in self.runs.items()}
        workload = self.workload
        about = f"{workload.example}: {workload.name} from {known.workload.name}"
        pfs, bb = known.runs.values()
        for histories, sides in (([*pfs, *bb], "both sides"), (pfs, "the PFS")):
            found = self.explained(histories)
            for side, mode in MODES.items():
                what = f"{about}, {side}, by {sides}"
                yield Forecast(what, *found.ends[mode], took[side])
            yield choice_of(f"{about}, by {sides}", found, took)

    def explained(self, histories: list[Path]) -> Explained:
        places = {"pfs": self.home / "scratch", "bb": self.tier}
        write_speeds(self.home / "speeds.yml", places, self.workload.slots)
        argv = ["--bb-speeds", "speeds.yml", "--bb-mode", "persistent", "--json"]
        for history in histories:
            argv += ["--bb-history", str(history)]
        text = command(self.home, "explain", *SITE, *argv, "workflow.yml")
        found = json.loads(text)["predicted"]
        ends = {m["mode"]: (m["low"], m["high"]) for m in found["modes"]}
        return Explained(ends, found["choice"], found["reason"])


def choice_of(what: str, found: Explained, took: dict[str, list[float]]) -> Choice:
    means = {side: fmean(seconds) for side, seconds in took.items()}
    best = min(means.values())
    lost = means["pfs" if found.choice == "off" else "bb"] / best - 1
    sides = Pair(stat(took["pfs"]), stat(took["bb"]))
    error = (sides.difference_error or 0.0) / best
    return Choice(what, found.choice, found.reason, lost, error)


def read_makespan(run: Path) -> float:
    found = read_run(run).makespan
    assert found is not None
    return found


def command(folder: Path, *words: str) -> str:
    return called(folder, sys.executable, "-m", "pegasus_bb", *words)


def called(folder: Path, *argv: str) -> str:
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        argv, cwd=folder, capture_output=True, text=True, env=os.environ
    )
    if done.returncode:
        raise SystemExit(f"{argv}: {done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
