"""How busy the machine is, and what it wants of us: to stop."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(KeyboardInterrupt):
    """Ctrl-C, SIGTERM or a closed terminal."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def stoppable() -> Iterator[None]:
    """Inside, these signals raise Stopped, and are then ignored until we are out.

    So neither a second Ctrl-C nor the closing terminal breaks the tidying up.
    """
    before = {number: signal.signal(number, _stop) for number in _STOP}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(number: int, _: FrameType | None) -> None:
    for each in _STOP:
        signal.signal(each, signal.SIG_IGN)
    raise Stopped(number)


def load_averages() -> list[float]:
    """Processes that wanted a CPU or a disk, over 1, 5 and 15 minutes."""
    return [round(value, 2) for value in os.getloadavg()]


def warning(load: float, *, first: bool, cores: int = 0) -> str:
    """A sentence where more wants to run than there are ``cores``; else nothing."""
    cores = cores or len(os.sched_getaffinity(0))
    if load <= cores:
        return ""
    before = "" if first else ", with the run before in it"
    return (
        f"the load average is {load:.2f} on {cores} cores{before}. Others "
        "seem to be at work on this machine: times and ratios are theirs as well."
    )
