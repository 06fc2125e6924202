"""The states of jobs, as squeue says: some end without a word of a hook.

Slurm starts the teardown of a job that it cancels, and now and then kills it at once
with the job's other hooks ("teardown for JobId=7 terminated by slurmctld" in its log).
It calls no other then. So where jobs wait for long, squeue is asked.
"""

from __future__ import annotations

import asyncio
import time
from typing import Callable, NamedTuple

from pegasus_bb.core.process import ask

_OVER = (
    "BOOT_FAIL CANCELLED COMPLETED DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY PREEMPTED "
    "REVOKED TIMEOUT"
)
_ASK = ("squeue", "--local", "--noheader", "--states=all", "--format=%A %T %N")


class JobState(NamedTuple):
    """As squeue has it. ``nodes``: those that it runs on, or has run on."""

    word: str
    nodes: str = ""


class Queue(NamedTuple):
    """All jobs that the caller may see, by number."""

    states: dict[int, JobState]
    asked_at: float  # of the epoch


def is_over(state: JobState | None) -> bool:
    """Whether squeue says so of a job; None: it does not know it any more."""
    return state is None or state.word in _OVER.split()


def never_began(state: JobState) -> bool:
    """Whether a job is over, and had no node at any time."""
    return is_over(state) and not state.nodes


def read_queue() -> Queue | None:
    """None where Slurm does not answer."""
    asked_at = time.time()
    answer = ask(_ASK)
    lines: list[list[str]] = [line.split() for line in answer.out.splitlines()]
    good = all(len(line) in (2, 3) and line[0].isdigit() for line in lines)
    if answer.status != 0 or not good:
        return None
    states = {int(number): JobState(*state) for number, *state in lines}
    return Queue(states, asked_at)


def when_known(
    loop: asyncio.AbstractEventLoop, then: Callable[[Queue | None], None]
) -> None:
    """Call ``then`` with ``read_queue``, later."""

    def tell(asked: asyncio.Future[Queue | None]) -> None:
        then(asked.result())

    loop.run_in_executor(None, read_queue).add_done_callback(tell)
