"""What the runs say: a table for each scene, and the goals, each as one figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.staging.peers import OURS, PEGASUS, UNVERIFIED
from benchmarks.staging.scenes import Run, Scene
from benchmarks.staging.sets import MIB

MIB_AT_MOST = 200.0
DIGEST_AT_MOST = 1.10
RACED = ("cp -r", "rsync -a")
LEAST_OF_RACED = {"large": 1.0, "mixed": 0.95, "small": 1.0}
LEAST_OF_PEGASUS = 20.0
_AT_LEAST = "at least"
_AT_MOST = "at most"
_AS_OURS = "took so many times as long as ours verified"
_TO_UNVERIFIED = "verified took so many times as long as ours unverified"
_OWN = (OURS, UNVERIFIED)
_HEAD = (
    f"{'':26} {'s':>8} {'MiB/s':>8} {'files/s':>9} {'CPU s':>7} {'peak MiB':>9} "
    f"{'times ours':>11} {'rounds':>7}"
)


@dataclass(frozen=True)
class Goal:
    """``values``: of the rounds; their median has to be ``need`` (at least or at most)
    ``bound``."""

    scene: str
    what: str
    values: Sequence[float]
    need: str
    bound: float

    @property
    def figure(self) -> float:
        return median(self.values)

    @property
    def met(self) -> bool:
        if self.need == _AT_MOST:
            return self.figure <= self.bound
        return self.figure >= self.bound

    def __str__(self) -> str:
        word = "met" if self.met else "MISSED"
        low = min(self.values)
        high = max(self.values)
        spread = f" ({low:.2f} to {high:.2f})" if low < high else ""
        return (
            f"{word:6} {self.scene}: {self.what}: {self.figure:.2f}{spread}, "
            f"{self.need} {self.bound:g}"
        )


def ratios(runs: Sequence[Run], name: str, to: str = OURS) -> list[float]:
    """Per round: how many times as long as ``to`` ``name`` took."""
    took = {(run.round, run.name): run.cost.wall for run in runs if not run.failed}
    rounds = sorted({run.round for run in runs})
    return [
        took[turn, name] / took[turn, to]
        for turn in rounds
        if (turn, name) in took and (turn, to) in took
    ]


def fastest(runs: Sequence[Run]) -> str | None:
    """Of one scene: which of cp and rsync did best against ours."""
    names = {run.name for run in runs} & set(RACED)
    found = {name: values for name in names if (values := ratios(runs, name))}
    return min(sorted(found), key=lambda name: median(found[name]), default=None)


def goals_of(runs: Sequence[Run]) -> list[Goal]:
    """Every goal that ``runs`` say something about."""
    goals: list[Goal] = []
    for scene in dict.fromkeys(run.scene for run in runs):
        goals += _of_scene(scene, [run for run in runs if run.scene == scene])
    held = [run for run in runs if run.name in _OWN and not run.failed]
    if held:
        run = max(held, key=lambda run: run.cost.mib)
        what = f"MiB that all processes of {run.name} held"
        goals.append(Goal(run.scene.title, what, [run.cost.mib], _AT_MOST, MIB_AT_MOST))
    return goals


def _of_scene(scene: Scene, runs: Sequence[Run]) -> Iterator[Goal]:
    if failed := [run for run in runs if run.failed and run.name in _OWN]:
        what = f"ours failed, {failed[0].failed}"
        yield Goal(scene.title, what, [len(failed)], _AT_MOST, 0)
    if scene.busy:  # the table tells how much; how busy a core is, others decide
        return
    for what, values, need, bound in _compared(scene.files.name, runs):
        if values:
            yield Goal(scene.title, what, values, need, bound)


def _compared(
    files: str, runs: Sequence[Run]
) -> Iterator[tuple[str, list[float], str, float]]:
    best = fastest(runs)
    if best is not None and files in LEAST_OF_RACED:
        what = f"{best}, the fastest, {_AS_OURS}"
        yield what, ratios(runs, best), _AT_LEAST, LEAST_OF_RACED[files]
    if files == "large":
        values = ratios(runs, OURS, UNVERIFIED)
        yield f"ours {_TO_UNVERIFIED}", values, _AT_MOST, DIGEST_AT_MOST
    if files == "small":
        values = ratios(runs, PEGASUS)
        yield f"{PEGASUS} {_AS_OURS}", values, _AT_LEAST, LEAST_OF_PEGASUS


def table(scene: Scene, runs: Sequence[Run], missing: Mapping[str, str]) -> str:
    """Medians of all rounds: ours, the others by speed, then the missing ones."""
    title = f"{scene.title}: {len(scene.files.files)} files, "
    lines = [f"{title}{scene.files.size / MIB:.0f} MiB", _HEAD]
    names = dict.fromkeys(run.name for run in runs)
    rows = {name: [run for run in runs if run.name == name] for name in names}
    lines += [_row(runs, name) for name in sorted(rows, key=lambda n: _rank(rows[n]))]
    lines += [f"{name:26} {why}" for name, why in missing.items() if why]
    return "\n".join(lines)


def _rank(runs: Sequence[Run]) -> tuple[bool, float]:
    done = [run.cost.wall for run in runs if not run.failed]
    return runs[0].name != OURS, median(done) if done else float("inf")


def _row(runs: Sequence[Run], name: str) -> str:
    own = [run for run in runs if run.name == name]
    if failed := [run.failed for run in own if run.failed]:
        return f"{name:26} FAILED {len(failed)} of {len(own)} times: {failed[0]}"
    wall = median(run.cost.wall for run in own)
    files = own[0].scene.files
    values = ratios(runs, name)
    times = f"{median(values):.2f}" if values else "-"
    return (
        f"{name:26} {wall:>8.2f} {files.size / MIB / wall:>8.0f} "
        f"{len(files.files) / wall:>9.0f} {median(run.cost.cpu for run in own):>7.2f} "
        f"{max(run.cost.mib for run in own):>9.0f} {times:>11} {len(own):>7}"
    )
