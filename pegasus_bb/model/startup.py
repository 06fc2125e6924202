"""What jobs take beside their tasks: waiting to be started, and being started."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Startup:
    """Seconds. The values here are those of the local engine on two idle cores."""

    queue: float = 0.0  # of a job that is ready, before it has its slot
    job: float = 0.1  # in the slot, around a task: the shell, launcher and recorder
    own: float = 0.2  # in the slot: a job of the planner's own, without its bytes


DEFAULT = Startup()
