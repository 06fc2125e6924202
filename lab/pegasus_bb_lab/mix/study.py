"""Every case with the same seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from pegasus_bb_lab.mix.campaign import simulate
from pegasus_bb_lab.mix.cases import Case
from pegasus_bb_lab.mix.events import Event
from pegasus_bb_lab.mix.measures import Outcome
from pegasus_bb_lab.mix.paired import Estimate, difference, estimate
from pegasus_bb_lab.model.mix import Mix

MEASURES = (
    "min",
    "max",
    "mean",
    "median",
    "productive",
    "overhead",
    "node_hours",
    "productive_node_hours",
    "dump_node_hours",
    "restart_node_hours",
    "lost_node_hours",
    "days",
    "dumps",
    "dumps_on_pfs",
    "dumps_lost",
    "interrupts",
)
Done = Callable[[int, int], None]  # simulated campaigns, of how many


@dataclass(frozen=True)
class Result:
    """Of one case: an outcome for each seed."""

    case: Case
    outcomes: Sequence[Outcome]

    def values(self, measure: str) -> list[float | None]:
        return [getattr(outcome, measure) for outcome in self.outcomes]

    def estimate(self, measure: str) -> Estimate | None:
        return estimate(self.values(measure))

    def against(self, base: Result, measure: str) -> Estimate | None:
        return difference(self.values(measure), base.values(measure))

    @property
    def incomplete(self) -> int:
        """Campaigns that were given up."""
        return sum(not outcome.complete for outcome in self.outcomes)


def study(
    mix: Mix,
    cases: Sequence[Case],
    seeds: Iterable[int],
    done: Done,
    watch: Callable[[Case, Event], None] | None = None,
) -> list[Result]:
    """``done`` is told of every campaign, ``watch`` every event of the first seed."""
    numbers = list(seeds)
    found: list[list[Outcome]] = [[] for _ in cases]
    count = 0
    of = len(numbers) * len(cases)
    for seed in numbers:
        for case, outcomes in zip(cases, found, strict=True):
            told = partial(watch, case) if watch and seed == numbers[0] else None
            outcome = simulate(case.machine, mix, case.architecture, seed, told)
            outcomes.append(outcome)
            count += 1
            done(count, of)
    return [Result(case, each) for case, each in zip(cases, found, strict=True)]


def to_document(mix: Mix, results: Sequence[Result]) -> dict[str, Any]:
    """For --json. Bandwidth is bytes per second, ``half`` half of a 95 % interval."""
    base = results[0]
    return {
        "mix": mix.source.name,
        "machine": base.case.machine.source.name,
        "seeds": len(base.outcomes),
        "confidence": 0.95,
        "cases": [_case(result, base) for result in results],
    }


def _case(result: Result, base: Result) -> dict[str, Any]:
    case = result.case
    found: dict[str, Any] = {
        "name": case.name,
        "architecture": case.architecture,
        "settings": dict(case.settings),
        "incomplete": result.incomplete,
        "measures": {key: _json(result.estimate(key)) for key in MEASURES},
    }
    if result is not base:
        differences = {key: result.against(base, key) for key in MEASURES}
        found["against"] = base.case.name
        found["differences"] = {
            key: _json(each, told_apart=True) for key, each in differences.items()
        }
    found["outcomes"] = [outcome.to_json() for outcome in result.outcomes]
    return found


def _json(
    found: Estimate | None, *, told_apart: bool = False
) -> Mapping[str, Any] | None:
    if found is None:
        return None
    more = {"told_apart": found.told_apart} if told_apart else {}
    return {**asdict(found), **more}
