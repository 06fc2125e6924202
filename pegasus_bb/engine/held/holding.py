"""One thing that this user holds somewhere, or has held."""

from __future__ import annotations

from dataclasses import dataclass

NOT_OURS = "not on this ledger"


@dataclass(frozen=True)
class Holding:
    """One reservation; times are seconds since the epoch, 0 where not known."""

    name: str
    backend: str
    size: int  # bytes
    state: str  # model.reservation.State; empty where it has ended
    message: str  # the scheduler's own words, or why nothing is known
    on_ledger: bool
    ended: str  # one of ledger.ENDS; empty: nobody noted that
    ended_at: float
    asked_at: float  # on the ledger; of a row that is not there: when it was made
    site: str
    tier: str
    uuid: str  # of the run
    label: str
    submit_dir: str
    host: str
    run: str  # one of engine.held.doing; empty where nobody asked
    run_words: str
    next: tuple[str, ...]  # what to say
    fallback: dict[str, str] | None = None  # to, because: the run is not on it
    job: str = ""  # of Slurm: its own space, kept for want of a stage-out
    node: str = ""  # of the run that job was of
    scratch: str = ""  # of that run
