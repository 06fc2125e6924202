"""The states of jobs, as squeue says: some end without a word of a hook.

Slurm starts the teardown of a job that it cancels, and now and then kills it at once
with the job's other hooks ("teardown for JobId=7 terminated by slurmctld" in its log).
It calls no other then. So where jobs wait for long, squeue is asked.
"""

from __future__ import annotations

import asyncio
import os
from typing import Callable, Dict, List, NamedTuple, Optional

from pegasus_bb.process import ask

_OVER = "BOOT_FAIL CANCELLED COMPLETED DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY TIMEOUT"
_ASK = ("squeue", "--local", "--noheader", "--states=all", "--format=%A %T %N")
_FILTERS = "SQUEUE_"  # variables that would leave out jobs


class JobState(NamedTuple):
    """As squeue has it. ``nodes``: those that it runs on, or has run on."""

    word: str
    nodes: str = ""


States = Dict[int, JobState]  # by the number of the job


def is_over(state: Optional[JobState]) -> bool:
    """Whether squeue says so of a job; None: it does not know it any more."""
    return state is None or state.word in _OVER.split()


def never_began(state: Optional[JobState]) -> bool:
    """Whether squeue says that a job is over, and had no node at any time."""
    return state is not None and is_over(state) and not state.nodes


def job_states() -> Optional[States]:
    """Those of all jobs that this user may see; None where Slurm does not answer."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith(_FILTERS)}
    answer = ask(_ASK, env=environ)
    lines: List[List[str]] = [line.split() for line in answer.out.splitlines()]
    good = all(len(line) in (2, 3) and line[0].isdigit() for line in lines)
    if answer.status != 0 or not good:
        return None
    return {int(number): JobState(*state) for number, *state in lines}


def when_known(loop: asyncio.AbstractEventLoop, then: Callable[[States], None]) -> None:
    """Call ``then`` with ``job_states``, later; not at all where Slurm does not
    answer."""

    def tell(asked: asyncio.Future[Optional[States]]) -> None:
        states = asked.result()
        if states is not None:
            then(states)

    loop.run_in_executor(None, job_states).add_done_callback(tell)
