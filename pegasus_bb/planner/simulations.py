"""Runs of a workflow that never happen, in the modes that a user names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pegasus_bb.errors import UsageError
from pegasus_bb.model.run import Run
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.predictions import (
    compared_modes,
    mode_predictions,
    without_speeds,
)
from pegasus_bb.planner.reading import read_and_place
from pegasus_bb.simulation.workflow.choice import Compared
from pegasus_bb.simulation.workflow.simulated_run import run_of
from pegasus_bb.simulation.workflow.simulator import demands_of
from pegasus_bb.simulation.workflow.waits import Waits, waits_of

_MOST = 2_000_000  # nodes of all runs: minutes, and some GiB


@dataclass(frozen=True)
class Simulated:
    predicted: Compared
    runs: Mapping[str, Sequence[Run]]  # by mode, off always: one for each seed
    waits: Mapping[str, Sequence[Waits]]  # by mode: of the first of them


def simulated_modes(
    options: PlanOptions,
    modes: Sequence[str],
    seeds: int,
    done: Callable[[int, int], None],
) -> Simulated:
    """``done`` is told of every run. Raises UsageError and CatalogError: no speeds, a
    mode that cannot be planned, too many runs, and all that planning raises."""
    placed = read_and_place(options)
    known = mode_predictions(placed)
    if known is None:
        raise without_speeds(placed, "simulate")
    runs: dict[str, list[Run]] = {}
    waits: dict[str, list[Waits]] = {}
    simulator, wanted = known.simulator, dict.fromkeys(("off", *modes))
    count = seeds * len(wanted)
    _check_effort(count, len(simulator.outline.nodes), seeds)
    for number, mode in enumerate(wanted):
        why = known.refusal(mode)
        if why:
            raise UsageError(f"mode {mode} cannot be simulated: {why}")
        what = known.mode(mode)
        for seed in range(seeds):
            demands = demands_of(simulator.planned.work, seed)
            found = simulator.execute(what, demands)
            label, site = placed.workflow.name, placed.site.name
            runs.setdefault(mode, []).append(run_of(label, what, found, site))
            if not seed:
                waits[mode] = waits_of(what, found)
            done(number * seeds + seed + 1, count)
    return Simulated(compared_modes(known), runs, waits)


def _check_effort(runs: int, nodes: int, seeds: int) -> None:
    if seeds > 1 and runs * nodes > _MOST:
        raise UsageError(
            f"--seeds {seeds}: {runs:,} runs of {nodes:,} nodes are too many; this "
            f"workflow can have {max(1, _MOST * seeds // (runs * nodes)):,} seeds"
        )
