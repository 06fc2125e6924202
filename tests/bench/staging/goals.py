"""What must hold, each as one figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from tests.bench.staging.peers import LIST, OURS, PEGASUS, PLAIN, UNVERIFIED
from tests.bench.staging.scenes import Run, Scene

MIB_AT_MOST, DIGEST_AT_MOST = 200.0, 1.10
LEAST_OF_FASTEST, LEAST_OF_CP, LEAST_OF_PEGASUS = 1.0, 0.8, 20.0
_AT_LEAST, _AT_MOST = "at least", "at most"
_AS_OURS = "took so many times as long as ours verified"
_TO_UNVERIFIED = "verified took so many times as long as ours unverified"
_OWN = (OURS, UNVERIFIED, PLAIN, LIST)


@dataclass(frozen=True)
class Goal:
    """``figure`` is the median of the rounds; ``low`` to ``high`` all of them."""

    scene: str
    what: str
    figure: float
    low: float
    high: float
    need: str
    met: bool

    def __str__(self) -> str:
        word = "met" if self.met else "MISSED"
        spread = f" ({self.low:.2f} to {self.high:.2f})" if self.low < self.high else ""
        return (
            f"{word:6} {self.scene}: {self.what}: {self.figure:.2f}{spread}, "
            f"{self.need}"
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


def fastest(runs: Sequence[Run], limits: Sequence[str]) -> str | None:
    """Of one scene: the peer that did best against ours."""
    names = {run.name for run in runs} - set(limits) - set(_OWN)
    found = {name: values for name in names if (values := ratios(runs, name))}
    return min(sorted(found), key=lambda name: median(found[name]), default=None)


def goals_of(runs: Sequence[Run], limits: Sequence[str]) -> list[Goal]:
    """Every goal that ``runs`` say something about; ``limits`` copy nothing."""
    scenes = list(dict.fromkeys(run.scene for run in runs))
    of_scenes = (
        goal
        for scene in scenes
        for goal in _of_scene(scene, [r for r in runs if r.scene == scene], limits)
    )
    return [*of_scenes, *_memory(runs)]


def _of_scene(
    scene: Scene, runs: Sequence[Run], limits: Sequence[str]
) -> Iterator[Goal]:
    if failed := [run for run in runs if run.failed and run.name in _OWN]:
        what = f"ours failed, {failed[0].failed}"
        yield Goal(scene.title, what, len(failed), 0, 0, "at most 0", False)
    best = fastest(runs, limits)
    if best is not None and scene.files.name in ("large", "mixed"):
        what, values = f"{best}, the fastest, {_AS_OURS}", ratios(runs, best)
        yield from _goal(scene, what, values, _AT_LEAST, LEAST_OF_FASTEST)
    if scene.files.name == "large":
        what, values = f"ours {_TO_UNVERIFIED}", ratios(runs, OURS, UNVERIFIED)
        yield from _goal(scene, what, values, _AT_MOST, DIGEST_AT_MOST)
    if scene.files.name == "small":
        for name, least in (("cp -r", LEAST_OF_CP), (PEGASUS, LEAST_OF_PEGASUS)):
            what, values = f"{name} {_AS_OURS}", ratios(runs, name)
            yield from _goal(scene, what, values, _AT_LEAST, least)


def _goal(
    scene: Scene, what: str, values: list[float], need: str, bound: float
) -> Iterator[Goal]:
    """``need``: at least or at most ``bound``; nothing if it was not measured."""
    if values:
        figure = median(values)
        met = figure <= bound if need == _AT_MOST else figure >= bound
        ends = min(values), max(values)
        yield Goal(scene.title, what, figure, *ends, f"{need} {bound:g}", met)


def _memory(runs: Sequence[Run]) -> Iterator[Goal]:
    held = [(run.cost.mib, run) for run in runs if run.name in _OWN and not run.failed]
    if held:
        most, run = max(held, key=lambda pair: pair[0])
        what = f"MiB that all processes of {run.name} held"
        yield from _goal(run.scene, what, [most], _AT_MOST, MIB_AT_MOST)
