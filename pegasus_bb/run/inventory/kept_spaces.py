"""Spaces of jobs that are kept because their results could not be staged out.

Mode transient. A space has the only copy of what its try has made. It is not needed any
more where the node was run again since, and its results are back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from pegasus_bb.core import ledger
from pegasus_bb.core.errors import DataNotSafe
from pegasus_bb.model.reservation import State
from pegasus_bb.run.engine.jobstate_log import read_history
from pegasus_bb.run.engine.nodestates import done_before
from pegasus_bb.run.engine.submitdir import SubmitDir
from pegasus_bb.run.inventory import run_state as runs
from pegasus_bb.run.inventory.run_state import (
    NOT_OURS,
    ReservationRecord,
    RunState,
    run_state,
)
from pegasus_bb.runtime.backends.base import Unstaged
from pegasus_bb.runtime.backends.unstaged import unstaged_results
from pegasus_bb.runtime.job_reservation.planned import landing_of


def list_kept_spaces(
    unstaged: Iterable[tuple[str, Unstaged]],
) -> list[ReservationRecord]:
    """Each with what its run is doing, where the ledger knows the run."""
    known = ledger.kept_spaces()
    return [_record(*one, known.get(one[1].job)) for one in unstaged]


def _record(
    backend: str, space: Unstaged, kept: ledger.KeptSpace | None
) -> ReservationRecord:
    where = unstaged_results(backend)
    found = ReservationRecord(
        f"job {space.job}",
        backend,
        space.size,
        State.STAGING_OUT.value,
        f"kept by {where.keeper}, of a run that this ledger does not know: "
        f"{space.message}",
        on_ledger=False,
        asked_at=space.created,
        run=NOT_OURS,
        next=(where.discard_command(space.job),),
        job=space.job,
    )
    if kept is None:
        return found
    folder = Path(kept.submit_dir)
    run = run_state(folder) if folder.is_dir() else RunState(runs.AWAY)
    whose = f"with the results of node {kept.node}"
    return replace(
        found,
        message=f"kept by {where.keeper}, {whose}: {space.message}",
        on_ledger=True,
        run=run.state,
        run_words=run.reason,
        **kept._asdict(),
    )


def why_not_needed(place: SubmitDir, record: ReservationRecord) -> str:
    """What makes up for what is in the space. The caller knows that the run stands
    still. Raises DataNotSafe where nothing does, SchedulerUnreachable."""
    where = unstaged_results(record.backend)
    landing = Path(landing_of(record.scratch, record.node, "0")).parent
    if not where.are_destined_for(record.job, str(landing)):
        raise DataNotSafe(
            f"job {record.job} does not stage out to {landing}: Slurm has given the "
            "number once more, so that nothing tells whose results these are"
        )
    done = done_before(place, place.read_dag(), read_history(place.journal))
    if record.node not in done:
        raise DataNotSafe(
            f"node {record.node} is not done, so its results are nowhere else: an "
            f"administrator may mend what {where.keeper} says, or `pegasus-bb run "
            f"{place.path}` makes them again; `{where.discard_command(record.job)}` "
            "drops them"
        )
    return f"node {record.node} was run again since, and its results are back"


def drop_space(record: ReservationRecord) -> None:
    """Back when it is gone. The caller knows that it is not needed.

    Raises SchedulerUnreachable; ReservationFailed where it stays.
    """
    unstaged_results(record.backend).discard(record.job)
