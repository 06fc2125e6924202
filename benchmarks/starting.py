"""What the start of a job costs: `make bench-start`.

Tasks that do nothing, by the embedded engine in modes persistent and off, beside
pegasus-kickstart, Snakemake, Parsl and GNU parallel where they are installed. All take
turns in one run. Calls by path on the submit directory are counted by strace.

python -m benchmarks.starting [tasks] [rounds]
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from shutil import which
from statistics import median

from benchmarks.byte_code import compile_as_installed

MODES = ("persistent", "off")
# goals: calls, seconds of processor time a task, tasks a second
LAUNCH_CALLS, EXITCODE_CALLS = 10, 12
TASK_SECONDS = {"persistent": 0.015, "off": 0.012}
FRESH_SECONDS = 0.030
PRIVATE_SECONDS, PRIVATE_CALLS = 0.005, 10  # that a private folder adds to a start
BEFORE_KICKSTART = "launch before pegasus-kickstart"
SHARED, PRIVATE = "sharedfs", "nonsharedfs"
SNAKEMAKE = "Snakemake"
OF_SNAKEMAKE = 4.0  # times as many tasks a second, in either mode
TASKS_A_SECOND = {"persistent": 100, "off": 120}

_SITES = """\
pegasus: "5.0"
sites:
- name: local
  directories:
  - {{type: localStorage, path: {root}/out, fileServers: [{{url: "file://{root}/out", \
operation: all}}]}}
- name: cluster
  directories:
  - {{type: sharedScratch, path: {root}/pfs, fileServers: [{{url: "file://{root}/pfs", \
operation: all}}]}}
x-storage-tiers:
  cluster: [{{name: bb, backend: directory, path: {root}/bb, capacity: 8MiB}}]
"""
_PROGRAMS = """\
pegasus: "5.0"
transformations:
- {name: nothing, sites: [{name: cluster, pfn: /bin/true, type: installed}]}
"""
_SNAKEFILE = """\
rule all:
    input: expand("done/{{n}}", n=range({tasks}))
rule one:
    output: touch("done/{{n}}")
    shell: "true"
"""
_PARSL_WORKERS = "process_worker_pool.py"
_PARSL = """\
import parsl
from parsl.config import Config
from parsl.executors import HighThroughputExecutor
@parsl.bash_app
def nothing():
    return "true"
with parsl.load(Config(executors=[HighThroughputExecutor(max_workers_per_node=2)])):
    for future in [nothing() for _ in range({tasks})]:
        future.result()
"""


class Bench:
    def __init__(self, root: Path, tasks: int) -> None:
        self.root, self.tasks = root, tasks
        self.turn = 0
        (root / "sites.yml").write_text(_SITES.format(root=root))
        (root / "transformations.yml").write_text(_PROGRAMS)
        (root / "replicas.yml").write_text('pegasus: "5.0"\nreplicas: []\n')
        job = "- {{type: job, name: nothing, id: J{}, arguments: [], uses: []}}\n"
        jobs = "".join(job.format(number) for number in range(tasks))
        (root / "workflow.yml").write_text(f'pegasus: "5.0"\nname: n\njobs:\n{jobs}')

    def ours(self, mode: str, folders: str = SHARED) -> list[str]:
        return [*_command("run"), str(self.plan(mode, folders)), "--engine", "local"]

    def plan(self, mode: str, folders: str = SHARED) -> Path:
        self.turn += 1
        folder = self.root / f"submit{self.turn}"
        words = "--bb-planner builtin --cleanup none --quiet --output-sites local"
        plan = [*_command("plan"), *words.split(), "--bb-mode", mode]
        plan.append(f"-Dpegasus.data.configuration={folders}")
        run([*plan, "--dir", str(folder)], self.root)
        (dag,) = folder.rglob("*.dag")
        return dag.parent

    def snakemake(self) -> list[str]:
        self.turn += 1
        folder = self.root / f"snakemake{self.turn}"
        folder.mkdir()
        (folder / "Snakefile").write_text(_SNAKEFILE.format(tasks=self.tasks))
        file = str(folder / "Snakefile")
        return ["snakemake", "--quiet", "--cores", "2", "-d", str(folder), "-s", file]

    def parsl(self) -> list[str]:
        """By the Python of the environment on PATH that has Parsl's programs."""
        workers = which(_PARSL_WORKERS) or ""
        python = str(Path(workers).resolve().with_name("python"))
        return [python, "-c", _PARSL.format(tasks=self.tasks)]

    def parallel(self) -> list[str]:
        numbers = [str(number) for number in range(self.tasks)]
        return ["parallel", "-j", "2", "true", ":::", *numbers]

    def others(self) -> dict[str, Callable[[], list[str]]]:
        found: dict[str, Callable[[], list[str]]] = {}
        if which("snakemake"):
            found[SNAKEMAKE] = self.snakemake
        if which(_PARSL_WORKERS):
            found["Parsl HTEX"] = self.parsl
        if which("parallel"):
            found["GNU parallel"] = self.parallel
        return found


def _command(name: str) -> list[str]:
    return [sys.executable, "-m", "pegasus_bb", name]


def run(argv: list[str], folder: Path, **environ: str) -> tuple[float, float]:
    """Seconds until its end, and of the processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    done = subprocess.run(
        argv, cwd=folder, capture_output=True, text=True, env={**os.environ, **environ}
    )
    took = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{argv[:4]} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took, busy


def engines(bench: Bench, rounds: int) -> None:
    kinds: dict[str, Callable[[], list[str]]] = {
        f"ours, {mode}": lambda mode=mode: bench.ours(mode)  # type: ignore[misc]
        for mode in MODES
    }
    kinds["ours, private"] = lambda: bench.ours("persistent", PRIVATE)
    kinds |= bench.others()
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in kinds}
    for _ in range(rounds):
        for name, command in kinds.items():
            found[name].append(run(command(), bench.root))
    print(f"{bench.tasks} tasks that do nothing: tasks a second, processor ms a task")
    for name, pairs in found.items():
        speed = bench.tasks / median(took for took, _ in pairs)
        busy = median(busy for _, busy in pairs) / bench.tasks
        mode = name.removeprefix("ours, ")
        goal = ""
        if mode in TASK_SECONDS:
            met = speed >= TASKS_A_SECOND[mode] and busy <= TASK_SECONDS[mode]
            goal = f"{'met' if met else 'MISSED'}: {TASKS_A_SECOND[mode]}"
            goal += f" a second, {1000 * TASK_SECONDS[mode]:.0f} ms"
        print(f"  {name:18} {speed:7.1f} {1000 * busy:7.1f}  {goal}")
    _compare(found)


def _compare(found: dict[str, list[tuple[float, float]]]) -> None:
    """How many times as fast as each of the others ours is: medians of the rounds."""
    for name, pairs in found.items():
        if name.startswith("ours"):
            continue
        for mode in MODES:
            own = found[f"ours, {mode}"]
            times = median(
                other[0] / us[0] for us, other in zip(own, pairs, strict=True)
            )
            goal = f"{OF_SNAKEMAKE:.0f}" if name == SNAKEMAKE else ""
            met = (
                f"{'met' if times >= OF_SNAKEMAKE else 'MISSED'}: {goal}"
                if goal
                else ""
            )
            print(f"  {mode:10} {times:7.2f} times as fast as {name}  {met}")


def fresh_starts(bench: Bench, rounds: int) -> None:
    """Launch and record as a node starts them, and what exitcode adds."""
    bb = bench.plan("off") / "bb"
    record = [str(bb / "bin/record"), "/bin/true"]
    kinds = {"launch and record": [str(bb / "bin/launch"), *record]}
    private = bench.plan("off", PRIVATE) / "bb"
    Path(json.loads((private / "plan.json").read_text())["scratch"]).mkdir(parents=True)
    kinds["in private"] = [str(private / f"bin/{p}") for p in ("launch", "record")]
    kinds["in private"].append("/bin/true")
    kickstart = which("pegasus-kickstart")
    if kickstart:
        kinds["pegasus-kickstart"] = [kickstart, "/bin/true"]
    kinds["python3 -IS"] = ["/usr/bin/python3", "-IS", "-c", ""]
    node = {"PEGASUS_DAG_JOB_ID": "nothing_J0"}
    found: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(10 * rounds):
        for name, argv in kinds.items():
            found[name].append(run(argv, bench.root, **node)[1])
    print("one start afresh: processor ms")
    for name, values in found.items():
        goal = ""
        if name == "launch and record":
            met = "met" if median(values) <= FRESH_SECONDS else "MISSED"
            goal = f"{met}: {1000 * FRESH_SECONDS:.0f} ms"
        print(f"  {name:18} {1000 * median(values):7.1f}  {goal}")
    more = median(found["in private"]) - median(found["launch and record"])
    met = "met" if more <= PRIVATE_SECONDS else "MISSED"
    print(f"  private adds {1000 * more:12.1f}  {met}: {1000 * PRIVATE_SECONDS:.0f} ms")


def calls(bench: Bench) -> None:
    if not which("strace"):
        print("calls on the submit directory: strace is not installed")
        return
    shared = _traced(bench, SHARED, "launch and record", LAUNCH_CALLS)
    private = _traced(bench, PRIVATE, "in private")
    met = "met" if private - shared <= PRIVATE_CALLS else "MISSED"
    print(f"  {'private adds':31} {private - shared:7} calls by path  {met}")


def _traced(bench: Bench, folders: str, name: str, at_most: int = 0) -> int:
    """Calls by path on the submit directory and the tier; goals are of the first."""
    submit = bench.plan("persistent", folders)
    bin_ = submit / "bb" / "bin"
    for program in ("setup", "gate"):
        run([str(bin_ / program)], submit)
    (tier,) = (p for p in (bench.root / "bb").iterdir() if p.name.startswith("pbb"))
    scratch = json.loads((submit / "bb/plan.json").read_text())["scratch"]
    (tier / scratch.split("/", 3)[3]).mkdir(parents=True)
    (submit / "task.out").write_text("- invocation: True\n      raw: 0\n")
    launch = [str(bin_ / "launch"), str(bin_ / "record"), "/bin/true"]
    exitcode = [str(bin_ / "exitcode"), "-r", "0", str(submit / "task.out")]
    kickstart = [str(bin_ / "launch"), _stand_in(bench.root), "/bin/true"]
    rows = [(name, launch, at_most), ("exitcode", exitcode, EXITCODE_CALLS)]
    rows.append((BEFORE_KICKSTART, kickstart, at_most))
    total = 0
    for what, argv, goal in rows if at_most else rows[:1]:
        log = bench.root / "strace"
        traced = ["strace", "-f", "-e", "trace=%file", "-o", str(log), *argv]
        run(traced, bench.root, PEGASUS_DAG_JOB_ID="nothing_J0")
        lines = log.read_text().splitlines()
        if (
            what == BEFORE_KICKSTART
        ):  # what it starts between itself and the task is not
            (end,) = (
                n for n, line in enumerate(lines) if f'execve("{argv[1]}"' in line
            )
            lines = lines[:end]
        count = sum(f'"{submit}' in line for line in lines)
        total = total or count + sum(f'"{tier}' in line for line in lines)
        met = f"{'met' if count <= goal else 'MISSED'}: {goal}" if goal else ""
        print(f"  {what:31} {count:7} calls by path  {met}")
    shutil.rmtree(tier)
    return total


def _stand_in(root: Path) -> str:
    """A program with the name of pegasus-kickstart, which starts its task only: what
    launch does before it does not depend on what it is."""
    program = root / "pegasus-kickstart"
    program.write_text('#!/bin/sh\nexec "$@"\n')
    program.chmod(0o755)
    return str(program)


def main() -> int:
    numbers = [int(word) for word in sys.argv[1:]]
    tasks, rounds = (*numbers, *(200, 3)[len(numbers) :])
    compile_as_installed()
    with tempfile.TemporaryDirectory(prefix="bench-start-") as root:
        os.environ["PEGASUS_BB_LEDGER"] = f"{root}/ledger.jsonl"  # not the user's own
        bench = Bench(Path(root), tasks)
        calls(bench)
        fresh_starts(bench, rounds)
        engines(bench, rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
