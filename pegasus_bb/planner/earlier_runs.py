"""What planning learns from earlier runs: those that the user names, else the last run
of the same workflow, if sizes are needed and not known."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from pegasus_bb.core.errors import PegasusBBError, UsageError
from pegasus_bb.model.document import suggestion
from pegasus_bb.model.history import History, combine
from pegasus_bb.model.modes import OFF, PERSISTENT
from pegasus_bb.model.placement import PFS
from pegasus_bb.model.settings import NONE, Settings
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.planner.options import PlanOptions, runs_folder

_TRIED = 2  # runs: the last one may have failed before it recorded anything


def named_history(settings: Settings, tiers: Collection[str]) -> History:
    """Raises UsageError if a run of ``--bb-history`` is missing, or has no usable
    record, or was on none of ``tiers``."""
    for run in settings.history:
        if run.place and run.place not in (PFS, *tiers):
            raise UsageError(
                f"--bb-history {run.place}={run.path}: the site has no tier "
                f"{run.place}; {suggestion(run.place, (PFS, *tiers))}"
            )
    runs = {run.path.resolve(): run for run in settings.history}  # each counts once
    return combine([_at(run.place, _of_run(run.path)) for run in runs.values()])


def _at(place: str, run: History) -> History:
    """``run`` as one on ``place``, if the user names it: records alone do not."""
    if not place or place == run.place:
        return run
    return replace(run, place=place, mode=(OFF if place == PFS else PERSISTENT).name)


def last_history(
    options: PlanOptions, workflow: Workflow
) -> tuple[History, tuple[str, ...]]:
    """The history of the last run, with a note for the user; empty without one."""
    folder = options.absolute(options.base_dir) / runs_folder(workflow.name)
    runs = sorted(folder.glob("run[0-9]*"), key=_number, reverse=True)
    for run in runs[:_TRIED]:
        try:
            found = _of_run(run)
        except (PegasusBBError, OSError):
            continue
        if found.sizes:
            note = (
                f"sizes are those of the last run of this workflow, {run}; "
                f"--bb-history {NONE} does without"
            )
            return found, (note,)
    return History(), ()


def _of_run(path: Path) -> History:
    from pegasus_bb.report.learn import history_of, startup_of
    from pegasus_bb.report.run_folder import read_run

    run = read_run(path)
    history = replace(history_of(run), startup=startup_of(run))
    if history.has_times or history.sizes:
        return history
    why = "".join(f"; {p.file}: {p.why}" for p in run.problems[:1])
    raise UsageError(
        f"--bb-history {path}: no task that ended well has a record there{why}"
    )


def _number(run: Path) -> int:
    digits = run.name[len("run") :]
    return int(digits) if digits.isdigit() else -1
