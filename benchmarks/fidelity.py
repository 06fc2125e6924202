"""How far forecasts are off: what one run shows, left out of another.

Both sides of both examples run on this machine. From two runs of one workload on each
side another one is forecast, in which one thing differs: the data, their size, or how
many jobs run at the same time. Then that one is run, between the two: other programs
slow all of them alike. A published pair of runs is forecast too: CyberShake on Cori,
from its times on the PFS and the rates that the site published. Printed are the error
of each forecast, whether its range holds what was measured, and whether ``auto`` would
have taken the faster mode.

Use an idle machine: some minutes. python -m benchmarks.fidelity
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import NamedTuple

import yaml

from pegasus_bb.report.run_folder import read_run

EXAMPLES = Path(__file__).parents[1] / "examples"
sys.path.insert(0, str(EXAMPLES))
from demo_speeds import write_speeds  # noqa: E402

ERROR, INSIDE, WIDTH = 0.25, 0.8, 2.0  # goals
SAME = 0.05  # of a makespan: the loss that a choice may make
MODES = {"pfs": "off", "bb": "persistent"}
SITE = ("--conf", "pegasus.properties", "--sites", "cluster", "--output-sites", "local")


class Workload(NamedTuple):
    example: str
    name: str
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


LEFT_OUT = (
    Workload("1000genome", "another chromosome", seed=2),
    Workload("1000genome", "twice the size", size=2),
    Workload("1000genome", "one job at a time", slots=1),
    Workload("cybershake", "another rupture list", seed=2),
    Workload("cybershake", "twice the size", size=2),
)


@dataclass(frozen=True)
class Forecast:
    what: str
    low: float
    high: float
    measured: float  # all in the same unit

    @property
    def error(self) -> float:
        """Of the nearer end."""
        return min(max(self.measured, self.low), self.high) / self.measured - 1

    @property
    def is_inside(self) -> bool:
        return self.low * (1 - SAME) <= self.measured <= self.high * (1 + SAME)

    def __str__(self) -> str:
        inside = "" if self.is_inside else "  outside of its range"
        return (
            f"{self.what}: {self.low:.1f} to {self.high:.1f}, measured "
            f"{self.measured:.1f} ({self.error:+.0%}){inside}"
        )


def main() -> int:
    """1 where a goal is missed."""
    with (
        tempfile.TemporaryDirectory(dir="/var/tmp") as disk,
        tempfile.TemporaryDirectory(dir="/dev/shm") as memory,
    ):
        forecasts, choices = of_examples(Path(disk), Path(memory))
        published = of_cori(Path(disk) / "cori")
    print(published, flush=True)
    forecasts.append(published)
    return summary(forecasts, choices)


def summary(forecasts: list[Forecast], choices: list[bool]) -> int:
    error = median(abs(each.error) for each in forecasts)
    worst = max(abs(each.error) for each in forecasts)
    inside = sum(each.is_inside for each in forecasts) / len(forecasts)
    width = median(each.high / each.low for each in forecasts)
    goals = {
        f"median error {error:.0%}, worst {worst:.0%} (goal: {ERROR:.0%})": (
            worst <= ERROR
        ),
        f"inside of its range {inside:.0%} (goal: {INSIDE:.0%})": inside >= INSIDE,
        f"median width {width:.2f} (goal: {WIDTH:.1f})": width <= WIDTH,
        f"right choices {sum(choices)} of {len(choices)} (goal: all)": all(choices),
    }
    for goal, is_met in goals.items():
        print(f"{goal}{'' if is_met else '  MISSED'}", flush=True)
    return 0 if all(goals.values()) else 1


def of_examples(disk: Path, memory: Path) -> tuple[list[Forecast], list[bool]]:
    examples = dict.fromkeys(workload.example for workload in LEFT_OUT)
    bases = {name: Generated(disk, memory, Workload(name, "base")) for name in examples}
    forecasts: list[Forecast] = []
    choices: list[bool] = []
    for workload in LEFT_OUT:
        base = bases[workload.example]
        other = Generated(disk, memory, workload)
        about = f"{workload.example}: {workload.name}"
        earlier = [base.run(side) for side in MODES]
        took = {side: read_makespan(other.run(side)) for side in MODES}
        earlier += [base.run(side) for side in MODES]
        both = other.explained(earlier)
        one = other.explained(earlier[:: len(MODES)])  # the first of MODES
        for found, known in ((both, "both sides"), (one, "the PFS")):
            for side, mode in MODES.items():
                ends = found.ends[mode]
                what = f"{about}, {side}, from {known}"
                forecasts.append(Forecast(what, *ends, took[side]))
                print(forecasts[-1], flush=True)
            choices.append(found.is_right(took))
            print(f"{about}, from {known}: auto takes {found.choice}")
    return forecasts, choices


class Explained(NamedTuple):
    ends: dict[str, tuple[float, float]]  # by mode
    choice: str

    def is_right(self, took: dict[str, float]) -> bool:
        """Whether the choice loses no more than SAME."""
        side = "pfs" if self.choice == "off" else "bb"
        return took[side] <= min(took.values()) * (1 + SAME)


class Generated:
    """A generated workload of an example."""

    def __init__(self, disk: Path, memory: Path, workload: Workload) -> None:
        self.workload = workload
        self.number = 0  # of runs
        name = f"{workload.example}-{workload.name}".replace(" ", "-")
        self.home, self.tier = disk / name, memory / name
        self.tier.mkdir()
        generator = EXAMPLES / workload.example / "workflow_generator.py"
        words = ["--output-dir", str(self.home), "--tier-path", str(self.tier)]
        words += ["--scratch", str(self.home / "scratch"), *workload.words]
        called(disk, sys.executable, str(generator), *words)

    def run(self, side: str) -> Path:
        """Plan and run; the submit directory."""
        self.number += 1
        name = f"{side}-{self.number}"
        places = ["--output-dir", f"results-{name}", "--dir", "."]
        places += ["--relative-submit-dir", name]
        how = ["--bb-planner", "builtin", "--bb-mode", MODES[side], "--bb-poll", "1s"]
        command(self.home, "plan", *SITE, *places, *how, "workflow.yml")
        slots = str(self.workload.slots)
        command(self.home, "run", "--engine", "local", "--slots", slots, name)
        return self.home / name

    def explained(self, histories: list[Path]) -> Explained:
        places = {"pfs": self.home / "scratch", "bb": self.tier}
        write_speeds(self.home / "speeds.yml", places, self.workload.slots)
        argv = ["--bb-speeds", "speeds.yml", "--bb-mode", "persistent", "--json"]
        for history in histories:
            argv += ["--bb-history", str(history)]
        return explained(self.home, *SITE, *argv)


def read_makespan(run: Path) -> float:
    found = read_run(run).makespan
    assert found is not None
    return found


def explained(folder: Path, *argv: str) -> Explained:
    text = command(folder, "explain", *argv, "workflow.yml")
    found = json.loads(text)["predicted"]
    ends = {m["mode"]: (m["low"], m["high"]) for m in found["modes"]}
    return Explained(ends, found["choice"])


# Ferreira da Silva et al. 2019, Table 1: hours on 313 and on 64 nodes of Cori.
HOURS = {"sgt": (1.09, 0.95, 313), "synth": (8.13, 6.97, 64)}
GB = 10**9
# Lockwood et al. 2018, and the site's own pages: Lustre 744 GB/s; 288 buffer nodes, 1.7
# TB/s in all, which grant 20 GiB each.
CORI = {
    "slots": 2,
    "pfs": {"read": "744GB/s", "write": "744GB/s", "ops": "30000/s"},
    "bb": {
        "read": "1700GB/s",
        "write": "1700GB/s",
        "per_granule": "5.9GB/s",
        "ops": "300000/s",
    },
}


def of_cori(folder: Path) -> Forecast:
    """The makespan on the buffer as a part of that on the PFS."""
    folder.mkdir()
    sgts = [("fx.sgt", 275 * GB), ("fy.sgt", 275 * GB)]
    uses = {
        "sgt": [use(lfn, "output", size) for lfn, size in sgts],
        "synth": [
            *(use(lfn, "input", size) for lfn, size in sgts),
            use("seismograms", "output", 22 * GB),
        ],
    }
    jobs = [
        {
            "type": "job",
            "name": name,
            "id": name,
            "arguments": [],
            "uses": uses[name],
            "profiles": {"pegasus": {"runtime": str(int(pfs * 3600)), "nodes": nodes}},
        }
        for name, (pfs, _, nodes) in HOURS.items()
    ]
    write_cori(folder, jobs)
    argv = ["--sites", "cori", "--output-sites", "local", "--bb-speeds", "speeds.yml"]
    argv += ["--bb-mode", "persistent", "--json", "--bb-check", "off"]
    found = explained(folder, *argv)
    low, high = found.ends["persistent"]
    off = sum(found.ends["off"]) / 2
    measured = sum(bb for _, bb, _ in HOURS.values())
    measured /= sum(pfs for pfs, _, _ in HOURS.values())
    return Forecast("CyberShake on Cori, buffer / PFS", low / off, high / off, measured)


def use(lfn: str, kind: str, size: int) -> dict[str, object]:
    made = {"stageOut": False, "registerReplica": False} if kind == "output" else {}
    return {"lfn": lfn, "type": kind, "metadata": {"size": size}, **made}


def write_cori(folder: Path, jobs: list[dict[str, object]]) -> None:
    scratch, server = "/global/cscratch1/sd/user", {"operation": "all"}
    local = {"type": "localStorage", "path": str(folder / "results")}
    shared = {"type": "sharedScratch", "path": scratch}
    sites = [
        {"name": name, "directories": [{**where, "fileServers": [
            {"url": f"file://{where['path']}", **server}]}]}
        for name, where in (("local", local), ("cori", shared))
    ]  # fmt: skip
    tier = {"name": "bb", "backend": "datawarp", "granularity": "20GiB"}
    programs = [
        {"name": name, "sites": [
            {"name": "cori", "pfn": f"/opt/{name}", "type": "installed"}]}
        for name in HOURS
    ]  # fmt: skip
    documents = {
        "workflow": {"name": "cybershake", "jobs": jobs},
        "sites": {"sites": sites, "x-storage-tiers": {"cori": [tier]}},
        "transformations": {"transformations": programs},
        "replicas": {"replicas": []},
    }
    for name, document in documents.items():
        text = yaml.safe_dump({"pegasus": "5.0", **document}, sort_keys=False)
        (folder / f"{name}.yml").write_text(text)
    (folder / "speeds.yml").write_text(yaml.safe_dump({"cori": CORI}))


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
