"""One reservation of this user, as `pegasus-bb ls` shows it."""

from __future__ import annotations

from dataclasses import dataclass

from pegasus_bb.ledger import LedgerReservation
from pegasus_bb.model.reservation import State

NOT_OURS = "not on this ledger"


@dataclass(frozen=True)
class ReservationRecord:
    """Times are seconds since the epoch, 0 where they are not known."""

    name: str
    backend: str
    size: int  # bytes
    state: str  # model.reservation.State; empty where it has ended
    message: str  # the scheduler's own words, or why nothing is known
    on_ledger: bool = True
    ended: str = ""  # one of ledger.ENDS; empty: no line of the ledger tells
    ended_at: float = 0.0
    asked_at: float = 0.0  # of a row that is not on the ledger: when it was made
    site: str = ""
    tier: str = ""
    uuid: str = ""  # of the run
    label: str = ""
    submit_dir: str = ""
    host: str = ""
    run: str = ""  # one of inventory.run_state; empty where that was not asked
    run_words: str = ""
    next: tuple[str, ...] = ()  # commands for the user
    fallback: dict[str, str] | None = None  # to, because: the run is not on it
    job: str = ""  # of Slurm: its own space, kept because its stage-out failed
    node: str = ""  # of the run that job was of
    scratch: str = ""  # of that run

    @property
    def is_unknown(self) -> bool:
        """Whether its scheduler gave no answer."""
        return self.state == State.UNKNOWN.value


def ended_record(
    entry: LedgerReservation, state: str, message: str
) -> ReservationRecord:
    """Of a reservation whose end is on the ledger."""
    request = entry.request or {}
    return ReservationRecord(
        entry.name,
        entry.backend,
        entry.size,
        state,
        message,
        ended=entry.end,
        ended_at=entry.ended_at,
        asked_at=entry.time,
        site=str(request.get("site", "")),
        tier=str(request.get("tier", "")),
        uuid=entry.uuid,
        label=entry.label,
        submit_dir=entry.submit_dir,
        host=entry.host,
    )
