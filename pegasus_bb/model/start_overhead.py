"""The overhead of a job around its task: waiting for its start, and starting."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Startup:
    """Seconds. The defaults are those of the local engine on two idle cores."""

    queue: float = 0.0  # from ready until a job has its slot
    job: float = 0.1  # in the slot, around a task: shell, launcher and recorder
    own: float = 0.2  # in the slot, an auxiliary job without its transfers


DEFAULT = Startup()
