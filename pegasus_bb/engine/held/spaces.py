"""Spaces of jobs that Slurm keeps, for it could not stage their results out.

Mode transient. What is in them is the only copy of what those tries have made, and yet
nobody may need it: where the node was run again since, its results are back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from pegasus_bb import ledger
from pegasus_bb.dag.reader import read_dag
from pegasus_bb.engine.held import doing as runs
from pegasus_bb.engine.held.doing import Doing, doing
from pegasus_bb.engine.held.holding import NOT_OURS, Holding
from pegasus_bb.engine.journal import read_history
from pegasus_bb.engine.recovery import done_before
from pegasus_bb.engine.submitdir import SubmitDir
from pegasus_bb.errors import DataNotSafe, ReservationFailed
from pegasus_bb.ledger import Kept
from pegasus_bb.model.reservation import State
from pegasus_bb.reservation.base import Unstaged
from pegasus_bb.reservation.slurm import Slurm
from pegasus_bb.runtime.job_reservation.planned import landing_of

_LOOK, _PATIENCE = 1.0, 60.0  # seconds


def holdings_of(
    unstaged: Iterable[tuple[str, Unstaged]], held: Callable[[int], str | None]
) -> list[Holding]:
    """Each with what its run is doing, where the ledger knows that."""
    known = ledger.kept()
    return [_holding(*one, known.get(one[1].job), held) for one in unstaged]


def _holding(
    backend: str,
    space: Unstaged,
    kept: Kept | None,
    held: Callable[[int], str | None],
) -> Holding:
    run, whose = Doing(NOT_OURS), "nobody here knows of which run"
    if kept is not None:
        there = Path(kept.submit_dir).is_dir()
        run = doing(Path(kept.submit_dir), held) if there else Doing(runs.AWAY)
        whose = f"with the results of node {kept.node}"
    return Holding(
        name=f"job {space.job}",
        backend=backend,
        size=space.size,
        state=State.STAGING_OUT.value,
        message=f"kept by Slurm, {whose}: {space.words}",
        on_ledger=kept is not None,
        ended="",
        ended_at=0.0,
        asked_at=space.created,
        site="",
        tier="",
        uuid=kept.uuid if kept else "",
        label=kept.label if kept else "",
        submit_dir=kept.submit_dir if kept else "",
        host="",
        run=run.state,
        run_words=run.words,
        next=(f"scancel --hurry {space.job}",),
        job=space.job,
        node=kept.node if kept else "",
        scratch=kept.scratch if kept else "",
    )


def why_not_needed(place: SubmitDir, holding: Holding) -> str:
    """In words, what makes up for what is in it. The caller knows that nobody works on
    the run. Raises DataNotSafe where nothing does, SchedulerUnreachable."""
    job = Slurm({}).job(holding.job)
    said = job.fields.get("BurstBuffer", "") if job else ""
    landing = Path(landing_of(holding.scratch, holding.node, "0")).parent
    if f"destination={landing}" not in said.split():
        raise DataNotSafe(
            f"job {holding.job} does not stage out to {landing}: Slurm has given the "
            "number once more, and nobody knows whose results these are"
        )
    done = done_before(place, read_dag(place.dag), read_history(place.journal))
    if holding.node not in done:
        raise DataNotSafe(
            f"node {holding.node} is not done, so its results are nowhere else: an "
            f"administrator may mend what Slurm says, or `pegasus-bb run {place.path}` "
            f"makes them again; `scancel --hurry {holding.job}` drops them"
        )
    return f"node {holding.node} was run again since, and its results are back"


def drop(holding: Holding) -> None:
    """Back when Slurm shows the space no more. The caller knows that nobody needs it.

    Raises SchedulerUnreachable; ReservationFailed where it stays.
    """
    slurm, until = Slurm({}), time.monotonic() + _PATIENCE
    slurm.drop(holding.job)
    while any(row.job == holding.job for row in slurm.plugin().jobs):
        if time.monotonic() > until:
            raise ReservationFailed(
                f"job {holding.job} keeps its space, after `scancel --hurry "
                f"{holding.job}` too: `scontrol show job {holding.job}` says why"
            )
        time.sleep(_LOOK)
