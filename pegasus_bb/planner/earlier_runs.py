"""What planning learns from earlier runs: those that the user names, else the last run
of the same workflow, if sizes are needed and not known."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from pegasus_bb.core.errors import PegasusBBError, UsageError
from pegasus_bb.model.document import suggestion
from pegasus_bb.model.history import History, combine
from pegasus_bb.model.modes import OFF, PERSISTENT
from pegasus_bb.model.placement import PFS
from pegasus_bb.model.run import Run
from pegasus_bb.model.settings import NONE, EarlierRun, Settings
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.planner.options import PlanOptions, runs_folder

_TRIED = 2  # runs: the last one may have failed before it recorded anything


def named_history(settings: Settings, tiers: Collection[str]) -> History:
    """Raises UsageError if a run of ``--bb-history`` is missing, or has no usable
    record, or was on none of ``tiers``, or not where the user says."""
    for run in settings.history:
        if run.place and run.place not in (PFS, *tiers):
            raise UsageError(
                f"--bb-history {run.place}={run.path}: the site has no tier "
                f"{run.place}; {suggestion(run.place, (PFS, *tiers))}"
            )
    runs = {run.path.resolve(): run for run in settings.history}  # each counts once
    return combine([_named(run) for run in runs.values()])


def foreign_note(history: History, workflow: Workflow) -> Iterator[str]:
    """A note if nothing of ``history`` is of ``workflow``."""
    sizes = history.largest_sizes
    is_known = any(
        history.of(job.id, job.transformation) or any(u.lfn in sizes for u in job.uses)
        for job in workflow
    )
    if not is_known:
        yield (
            f"--bb-history {history.source}: no task and no file of it is in this "
            "workflow, so nothing is learned from it"
        )


def _named(named: EarlierRun) -> History:
    """The history of a run. Where records alone do not say its place, the user does.

    Raises UsageError if the records say another one.
    """
    run = _read(named.path)
    history = _of_run(run, named.path)
    place = named.place
    if not place or place == history.place:
        return history
    if run.mode:  # it was planned here
        raise UsageError(
            f"--bb-history {place}={named.path}: by its records this run was on "
            f"{history.place}, not on {place}; {place}= is for records that do not say "
            f"it, so name {named.path} alone"
        )
    mode = OFF if place == PFS else PERSISTENT
    return replace(history, place=place, mode=mode.name)


def last_history(
    options: PlanOptions, workflow: Workflow
) -> tuple[History, tuple[str, ...]]:
    """The history of the last run, with a note for the user; empty without one."""
    folder = options.absolute(options.base_dir) / runs_folder(workflow.name)
    runs = sorted(folder.glob("run[0-9]*"), key=_number, reverse=True)
    for run in runs[:_TRIED]:
        try:
            found = _of_run(_read(run), run)
        except (PegasusBBError, OSError):
            continue
        if found.sizes:
            note = (
                f"sizes are those of the last run of this workflow, {run}; "
                f"--bb-history {NONE} does without"
            )
            return found, (note,)
    return History(), ()


def _read(path: Path) -> Run:
    from pegasus_bb.report.run_folder import read_run

    return read_run(path)


def _of_run(run: Run, path: Path) -> History:
    from pegasus_bb.report.learn import history_of, startup_of

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
