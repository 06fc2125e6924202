"""What happens in a campaign, event by event."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

START = "start"
RESTART = "restart"
CHECKPOINT = "checkpoint"
LOST = "checkpoint lost"
DRAINED = "drained"
FAULT = "fault"
BUFFER_FAULT = "buffer fault"
END = "end"
COMPLETE = "complete"


@dataclass(frozen=True, slots=True)
class Event:
    """``start`` and ``end`` are those of a job; ``complete`` is the last end of its
    pipeline. ``restart``: it has read its checkpoint. ``drained``: the PFS has it too.
    """

    time: float  # seconds since the start of the campaign
    event: str
    pipeline: int | None = None  # its place in the first queue; None: a fault of none
    application: str = ""
    nodes: int = 0
    done: float = 0.0  # seconds of computing that the pipeline has behind it

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


Watch = Callable[[Event], None]
