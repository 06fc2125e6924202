"""Simulated runs of a workflow, in the modes that the user names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pegasus_bb.core.errors import UsageError
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.decide.declared_speeds import without_speeds
from pegasus_bb.decide.place_files import place
from pegasus_bb.decide.tier_choice import choose_tier, usual_mode
from pegasus_bb.forecast.workflow.mode_choice import Compared
from pegasus_bb.forecast.workflow.simulated_run import run_of
from pegasus_bb.forecast.workflow.simulator import demands_of
from pegasus_bb.forecast.workflow.waiting_times import Waits, waits_of
from pegasus_bb.model.modes import OFF, PLANNED, RunMode
from pegasus_bb.model.run import Run
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.predicting import compare_modes, mode_predictions
from pegasus_bb.planner.predictions import ModePredictions
from pegasus_bb.planner.reading import names_mode, read

_MOST = 2_000_000  # nodes of all runs: minutes, and some GiB


class SimulationSize(NamedTuple):
    seeds: int = 1  # runs of each mode
    scale: int = 1  # how many times the bytes of each file


@dataclass(frozen=True)
class Simulated:
    predicted: Compared
    runs: Mapping[str, Sequence[Run]]  # by mode, always with off: one per seed
    waits: Mapping[str, Sequence[Waits]]  # by mode: of the first seed


def simulated_modes(
    options: PlanOptions,
    modes: Sequence[RunMode],
    size: SimulationSize,
    done: Callable[[int, int], None],
) -> Simulated:
    """Without ``modes`` simulates the planned one. Calls ``done`` after every run.

    Raises UsageError and CatalogError: no speeds, a mode that cannot be planned, too
    many runs, and all that planning raises.
    """
    given = replace(_read(options), scale=size.scale)
    seeds = size.seeds
    predictions = mode_predictions(given, place(given))
    if predictions is None:
        raise without_speeds(given, "simulate")
    runs: dict[str, list[Run]] = {}
    waits: dict[str, list[Waits]] = {}
    wanted = dict.fromkeys((OFF, *(modes or [_planned(predictions)])))
    count = seeds * len(wanted)
    _check_effort(count, len(predictions.simulator.outline.nodes), seeds)
    for number, mode in enumerate(wanted):
        why = predictions.refusal(mode)
        if why:
            raise UsageError(f"--mode {mode} cannot be simulated: {why}")
        simulator, what = predictions.planned(mode)
        for seed in range(seeds):
            demands = demands_of(simulator.planned.work, seed)
            execution = simulator.execute(what, demands)
            if not seed:
                predictions.note_run(mode, what, execution)
            label = given.workflow.name
            site = given.site.name
            runs.setdefault(mode.name, []).append(run_of(label, what, execution, site))
            if not seed:
                waits[mode.name] = waits_of(what, execution)
            done(number * seeds + seed + 1, count)
    return Simulated(compare_modes(predictions), runs, waits)


def _read(options: PlanOptions) -> PlanningInput:
    """The user's input, in a mode that serves the tier if the user names none."""
    given = read(options)
    if names_mode(given.catalogs.properties):
        return given
    tier = choose_tier(given.catalogs, given.settings, given.site.name)
    return given.in_mode(usual_mode(tier))


def _planned(predictions: ModePredictions) -> RunMode:
    """The mode that is planned; where that is off, what would use the tier."""
    mode = predictions.given.settings.mode
    if mode.is_chosen:
        mode = PLANNED[compare_modes(predictions).choice.mode]
    return mode if mode.uses_tier else usual_mode(predictions.whole.tier)


def _check_effort(runs: int, nodes: int, seeds: int) -> None:
    if seeds > 1 and runs * nodes > _MOST:
        raise UsageError(
            f"--seeds {seeds}: {runs:,} runs of {nodes:,} nodes are too many; this "
            f"workflow can have {max(1, _MOST * seeds // (runs * nodes)):,} seeds"
        )
