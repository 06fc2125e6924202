"""What a campaign was like: bandwidth of the checkpoints, and where node-hours went."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass, field

_HOUR = 3600.0


@dataclass
class Tally:
    """Counted while the campaign runs. Seconds are those of all nodes together."""

    bandwidths: list[float] = field(default_factory=list)  # bytes/s, of each checkpoint
    allocated: float = 0.0
    dumping: float = 0.0  # checkpoints that were completed
    restarting: float = 0.0  # reading checkpoints
    dumps_on_pfs: int = 0  # the buffer had no room
    dumps_lost: int = 0  # with a buffer node
    interrupts: int = 0  # jobs that a fault has ended


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one campaign. ``lost`` is computing that was done again, and checkpoints that
    were not completed. None: there was no checkpoint."""

    min: float | None  # bytes/s of a checkpoint
    max: float | None
    mean: float | None
    median: float | None
    node_hours: float  # given to jobs
    productive_node_hours: float
    dump_node_hours: float
    restart_node_hours: float
    lost_node_hours: float
    productive: float  # share of node_hours
    overhead: float  # the rest
    days: float
    dumps: int
    dumps_on_pfs: int
    dumps_lost: int
    interrupts: int
    complete: bool  # False: given up, it took ten times the time without faults

    def to_json(self) -> dict[str, float | None]:
        return asdict(self)


def outcome(
    tally: Tally, productive: float, ended: float, *, complete: bool
) -> Outcome:
    rates = tally.bandwidths
    allocated = tally.allocated or 1.0
    lost = tally.allocated - productive - tally.dumping - tally.restarting
    return Outcome(
        min=min(rates, default=None),
        max=max(rates, default=None),
        mean=statistics.fmean(rates) if rates else None,
        median=statistics.median(rates) if rates else None,
        node_hours=tally.allocated / _HOUR,
        productive_node_hours=productive / _HOUR,
        dump_node_hours=tally.dumping / _HOUR,
        restart_node_hours=tally.restarting / _HOUR,
        lost_node_hours=max(lost, 0.0) / _HOUR,
        productive=productive / allocated,
        overhead=1 - productive / allocated,
        days=ended / (24 * _HOUR),
        dumps=len(rates),
        dumps_on_pfs=tally.dumps_on_pfs,
        dumps_lost=tally.dumps_lost,
        interrupts=tally.interrupts,
        complete=complete,
    )
