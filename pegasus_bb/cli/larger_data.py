"""What if the data were larger: a forecast beside the break-even of measured runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pegasus_bb.api.comparing import RunComparison
from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.model.run import Kind, Run

_TIMES = 10
_MOST = 5000  # tasks of a run: with more, a report would take as long as a plan


def with_larger_data(found: RunComparison) -> RunComparison:
    """Add the forecast, if the run on the tier was planned with speeds and can be
    planned again."""
    comparison = found.comparison
    even = comparison.break_even
    if even is None:
        return found
    runs = [each.run for _, each in comparison.named_runs()]
    _, typical = comparison.typical("bb")
    run = typical.run
    tasks = sum(task.kind is Kind.COMPUTE for task in run.tasks)
    if run.predicted is None or tasks > _MOST:
        return found
    even = replace(even, forecast=_forecast(run, runs))
    return replace(found, comparison=replace(comparison, break_even=even))


def _forecast(run: Run, runs: list[Run]) -> str:
    from pegasus_bb.cli.plan_options import options_of
    from pegasus_bb.decide.place_files import place
    from pegasus_bb.model.modes import OFF, recorded_mode
    from pegasus_bb.planner.planned_by import PlanningCommand
    from pegasus_bb.planner.predicting import mode_predictions
    from pegasus_bb.planner.reading import read

    command = PlanningCommand.of_run(Path(run.submit_dir) / "bb")
    mode = recorded_mode(run.mode)
    if not command.argv or command.changed() or mode is None:
        return ""
    more = [f"--bb-history={Path(each.submit_dir).absolute()}" for each in runs]
    try:
        argv = [*command.argv[1:], "--bb-mode", run.mode, *more]
        given = replace(read(options_of(argv, Path(command.cwd))), scale=_TIMES)
        predictions = mode_predictions(given, place(given))
    except PegasusBBError:  # a report says what was measured, whatever is gone
        return ""
    if predictions is None:
        return ""
    off, bb = predictions.of(OFF), predictions.of(mode)
    return (
        f"With {_TIMES} times the data the forecast is {off.range} on the PFS and "
        f"{bb.range} on the burst buffer (docs/prediction.md)."
    )
