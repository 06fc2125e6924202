#!/usr/bin/env python3
"""Run CyberShake and 1000 Genomes on the PFS and on the burst buffer, and compare.

`make demo` calls this from the repository's root. It leaves demo/<example>/pfs and
demo/<example>/bb (submit directories), demo/<example>/results-{pfs,bb}, and
demo/report.json, which docs/report.md describes, drawn in demo/report.html. Nothing is
throttled: what it prints was measured on this machine's own storage.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import sysconfig
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE))

from demo_folders import (  # noqa: E402
    DemoError,
    Storage,
    differences,
    fast_storage,
    fresh_folder,
    read_once,
    remove_left_overs,
    remove_storage,
)
from demo_machine import Stopped, load_averages, stoppable, warning  # noqa: E402
from demo_places import Place, place  # noqa: E402
from demo_shell import Shell, say, tell  # noqa: E402
from demo_speeds import write_speeds  # noqa: E402
from demo_words import SIDES, conclude, how_to_repeat, introduce  # noqa: E402

from pegasus_bb.core.errors import UsageError  # noqa: E402
from pegasus_bb.planner.options import check_folder  # noqa: E402
from pegasus_bb.report.compare import compare  # noqa: E402
from pegasus_bb.report.page.reported import report_page  # noqa: E402
from pegasus_bb.report.report_document import Comparison  # noqa: E402
from pegasus_bb.report.run_folder import read_run  # noqa: E402

MADE_BY_RUNS = {"pfs", "bb", "results-pfs", "results-bb", "scratch", "local-scratch"}
GENERATOR = "workflow_generator.py"
SPEEDS = "speeds.yml"
NUMPY = Path(sysconfig.get_path("platlib")) / "numpy"  # what cybershake computes with


@dataclass(frozen=True)
class Sizes:
    """How much the examples compute."""

    points: int = 11_185
    timesteps: int = 2_000
    ruptures: int = 120
    rows: int = 2_500
    chromosomes: int = 2
    individuals_jobs: int = 10
    populations: tuple[str, ...] = ("EAS", "GBR", "AMR", "EUR", "SAS", "AFR", "ALL")

    def need(self) -> int:
        """Bytes that the larger example may have on the tier at once, generously."""
        cybershake = 2 * 24 * self.points * self.timesteps + (128 << 20)
        genome = 40_000 * self.rows * self.chromosomes + (64 << 20)
        return max(cybershake, genome) * 5 // 4

    def arguments(self, example: str) -> list[str]:
        """The generator's options for ``example``."""
        if example == "cybershake":
            names = ("points", "timesteps", "ruptures")
            return _options(self, names)
        names = ("rows", "chromosomes", "individuals_jobs")
        return [*_options(self, names), "--populations", *self.populations]


QUICK = Sizes(
    points=400,
    timesteps=400,
    ruptures=10,
    rows=60,
    chromosomes=1,
    individuals_jobs=2,
    populations=("EUR",),
)
EXAMPLES = ("cybershake", "1000genome")


def _prediction(side: str, found: dict[str, Any]) -> dict[str, Any]:
    (mode,) = (each for each in found["modes"] if each["mode"] == SIDES[side])
    more = {"preferred": found["choice"], "sources": found["sources"]}
    return {**mode, "side": side, "histories": found["histories"], **more}


def _options(sizes: Sizes, names: tuple[str, ...]) -> list[str]:
    return [
        word
        for name in names
        for word in (f"--{name.replace('_', '-')}", str(getattr(sizes, name)))
    ]


@dataclass(frozen=True)
class Demo:
    """One demo: where it happens, and how large it is."""

    folder: Path
    sizes: Sizes
    shell: Shell
    storage: Storage

    def example(self, name: str) -> dict[str, Any]:
        """Generate, run on both sides, check, compare; what report.json says of it."""
        say(f"\n== {name} ==")
        home = self.folder / name
        places = self.generate(name, home)
        for side, found in places.items():
            tell(found.described(side))
        loads = {}
        for side, mode in SIDES.items():
            self.plan(home, side, mode)
            loads[side] = self.run(home, side)
        files = self.check(home)
        predicted = self.predict(home)
        return {
            "order": list(SIDES),
            "places": {side: asdict(found) for side, found in places.items()},
            "load_averages": loads,
            "outputs": {"identical": True, "files": files},
            "predicted": predicted,
            "comparison": self.report(home),
        }

    def generate(self, name: str, home: Path) -> dict[str, Place]:
        """The abstract workflow, its catalogs and its input files; where it will run,
        by side."""
        short = self.shell.short
        argv = ["python", short(HERE / name / GENERATOR), "--output-dir", short(home)]
        argv += ["--scratch", short(home / "scratch")]
        argv += ["--tier-path", str(self.storage.path / name)]
        tier = self.storage.path / name
        tier.mkdir()
        self.shell.quietly([*argv, *self.sizes.arguments(name)], self.shell.root)
        folders = {"pfs": home / "scratch", "bb": tier}
        speeds = (
            write_speeds(home / SPEEDS, folders, len(os.sched_getaffinity(0))) or {}
        )
        return {side: place(path, speeds.get(side)) for side, path in folders.items()}

    def plan(self, home: Path, side: str, mode: str) -> None:
        """A submit directory for one side, from the same workflow and catalogs.

        What the later one will take is predicted from what the first one took.
        """
        argv = ["pegasus-bb", "plan", "--conf", "pegasus.properties"]
        argv += ["--bb-planner", "builtin"]  # also where there is a Pegasus
        argv += ["--sites", "cluster", "--output-sites", "local"]
        argv += ["--output-dir", f"results-{side}"]
        argv += ["--dir", ".", "--relative-submit-dir", side]
        if side != next(iter(SIDES)):
            argv += ["--bb-speeds", SPEEDS, "--bb-history", next(iter(SIDES))]
        argv += ["--bb-mode", mode, "--bb-poll", "1s", "--force", "workflow.yml"]
        self.shell.quietly(argv, home)

    def run(self, home: Path, side: str) -> list[float]:
        """Both sides start alike: inputs in the page cache, nothing left to write.

        Returns the load averages before the run, over 1, 5 and 15 minutes.
        """
        size = read_once(home, MADE_BY_RUNS)
        for programs in (HERE / home.name, NUMPY):
            size += read_once(programs, set())
        os.sync()
        loads = load_averages()
        say("")
        tell(
            f"{side}: inputs and programs read ({size / 1e6:.0f} MB), disks synced; "
            f"load average {loads[0]:.2f}"
        )
        if said := _warning(side, loads):
            tell(f"WARNING: {said}")
        self.shell.aloud(["pegasus-bb", "run", "--engine", "local", side], home)
        os.sync()
        return loads

    def predict(self, home: Path) -> list[dict[str, Any]]:
        """The makespan of each side: as the other side's run predicts it, and as both
        runs together do."""
        bb, pfs = self.explain(home, "pfs"), self.explain(home, "bb")
        both = self.explain(home, "pfs", "bb")
        asked = [("bb", bb), ("pfs", pfs), ("pfs", both), ("bb", both)]
        return [_prediction(side, found) for side, found in asked]

    def explain(self, home: Path, *histories: str) -> dict[str, Any]:
        """What ``explain --json`` predicts by earlier runs."""
        argv = ["pegasus-bb", "explain", "--conf", "pegasus.properties"]
        argv += ["--sites", "cluster", "--output-sites", "local"]
        argv += ["--bb-speeds", SPEEDS, "--bb-mode", "persistent"]
        for history in histories:
            argv += ["--bb-history", history]
        answer = self.shell.answer([*argv, "--json", "workflow.yml"], home)
        found: dict[str, Any] = json.loads(answer)["predicted"]
        return {**found, "histories": list(histories)}

    def check(self, home: Path) -> int:
        """The number of result files, the same to the byte. Raises DemoError."""
        wrong = differences(home / "results-pfs", home / "results-bb")
        if wrong:
            raise DemoError("the results of both runs differ:\n  " + "\n  ".join(wrong))
        files = sum(p.is_file() for p in (home / "results-pfs").rglob("*"))
        say(f"\nresults: {files} files, byte-identical on both sides (sha256)")
        return files

    def report(self, home: Path) -> dict[str, Any]:
        """The comparison: shown, and as the document that the command wrote."""
        argv = ["pegasus-bb", "report", "--pfs", "pfs", "--bb", "bb"]
        self.shell.aloud([*argv, "--json", "report.json"], home)
        document: dict[str, Any] = json.loads((home / "report.json").read_bytes())
        return document


def demonstrate(folder: Path, root: Path, sizes: Sizes, examples: list[str]) -> None:
    """The whole demo below ``folder``. Raises DemoError."""
    if fresh_folder(folder):
        tell(f"removed the demo before, and its report: {folder}")
    storage = fast_storage(folder, sizes.need())
    shell = Shell(root, Path(sys.executable).parent)
    demo = Demo(folder, sizes, shell, storage)
    try:
        introduce(folder, storage)
        report = _report(demo, examples)
    except DemoError:
        say("\nleft to look at, until the next demo or `make clean`:")
        say(f"  {folder}\n  {storage.path} (the burst buffer)")
        raise
    except BaseException:  # interrupted, or the output is closed: memory is not kept
        remove_storage(storage)
        raise
    path = folder / "report.json"
    path.write_text(json.dumps(report, indent=1) + "\n")
    page = folder / "report.html"
    warnings = {name: _warnings(report["examples"][name]) for name in examples}
    compared = {name: _compared(folder / name) for name in examples}
    about = {name: _places(report["examples"][name]) for name in examples}
    text = report_page(compared, warnings, about)
    page.write_text(text, encoding="utf-8")
    remove_storage(storage)
    conclude(report, shell.short(path), shell.short(page))
    how_to_repeat(shell, folder, examples[0], list(SIDES))


def _warning(side: str, loads: list[float]) -> str:
    return warning(loads[0], first=side == next(iter(SIDES)))


def _warnings(example: dict[str, Any]) -> list[str]:
    """What puts a difference of both sides in doubt, by the storage itself."""
    pfs, bb = (Place(**example["places"][side]) for side in SIDES)
    slower = bb.slower_than(pfs)
    return [slower] if slower else []


def _places(example: dict[str, Any]) -> list[str]:
    """What each side really was, for the page."""
    return [Place(**of).described(side) for side, of in example["places"].items()]


def _compared(home: Path) -> Comparison:
    return compare([read_run(home / "pfs")], [read_run(home / "bb")])


def _report(demo: Demo, examples: list[str]) -> dict[str, Any]:
    """Play the examples; the document that docs/report.md describes."""
    return {
        "version": 1,
        "made_with": {
            "planner": "built-in",
            "engine": "local",
            "backend": "directory",
            "burst_buffer": demo.storage.what,
            "same_disk": demo.storage.same_disk,
            "throttled": False,
            "cores": len(os.sched_getaffinity(0)),
        },
        "examples": {name: demo.example(name) for name in examples},
    }


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line; sizes that are not given are the demo's, or --quick's."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    add = parser.add_argument
    add("--quick", action="store_true", help="small sizes: a check, not a measurement")
    add("--demo-dir", type=Path, default=HERE.parent / "demo", help="where it happens")
    add("--clean", action="store_true", help="only remove what demos have left over")
    add("--only", choices=EXAMPLES, help="one example")
    for name in ("points", "timesteps", "ruptures"):
        add(f"--{name}", type=int, help="of cybershake")
    for name in ("rows", "chromosomes", "individuals-jobs"):
        add(f"--{name}", type=int, help="of 1000genome")
    return parser.parse_args(arguments)


def sizes_of(options: argparse.Namespace) -> Sizes:
    """The sizes that the command line asks for."""
    base = QUICK if options.quick else Sizes()
    given = {
        name: value
        for name in vars(base)
        if (value := getattr(options, name, None)) is not None
    }
    return Sizes(**{**vars(base), **given})


_ELSEWHERE = '  fix:      "{}" examples/demo.py --demo-dir /tmp/demo'


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    if options.clean:
        for sentence in remove_left_overs():
            say(sentence)
        return 0
    examples = [options.only] if options.only else list(EXAMPLES)
    folder = Path(os.path.abspath(options.demo_dir))
    try:
        check_folder(folder)
    except UsageError as error:
        print(f"demo: {error}\n{_ELSEWHERE.format(sys.executable)}", file=sys.stderr)
        return 2
    try:
        with stoppable():
            demonstrate(folder, HERE.parent, sizes_of(options), examples)
    except DemoError as error:
        print(f"\ndemo: {error}", file=sys.stderr)
        return 1
    except Stopped as stopped:
        print(
            f"\ndemo: interrupted; {folder} is left, what was on the burst buffer is "
            "not; make demo starts afresh",
            file=sys.stderr,
        )
        return 128 + stopped.number
    except BrokenPipeError:  # the reader of the output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
