"""The signals that end a job, and the time that is left after the first of them.

A batch system sends SIGTERM, and some time later SIGKILL: Slurm after its KillWait,
HTCondor after its killing_timeout, both 30 s where the site says nothing else.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable
from types import FrameType

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.light_typing import NamedTuple
from pegasus_bb.runtime import proc
from pegasus_bb.runtime.fork_worker import fork_worker, kill

_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU)
_CAUGHT = (*proc.FORWARDED, signal.SIGXCPU)
_USED = 0.9  # of the time; the rest is for what comes after it: words, and removals
_MOMENT = 0.1  # seconds
_END = "end"  # the last line
_LATE = "no time was left after the signal"
_ESCAPED = "surrogateescape"  # names of files
_BROKEN = "the process that saves was ended"

Say = Callable[[str], None]  # a line for launch


class JobEnds(PegasusBBError):
    """A signal ended the job while no task ran."""


class Saved(NamedTuple):
    lines: list[str]  # that it said
    why: str  # it did not come to its end; empty if it did


class StopSignals:
    """While it is entered, a signal ends the task, as ever, and not this process: it
    has ``within`` seconds to save files. Without a signal it has all the time.

    A signal that ends the job while no task runs raises JobEnds, once.
    """

    def __init__(self, within: float) -> None:
        self._within = within * _USED
        self._until: float | None = None  # time.monotonic
        self.saves = False  # a signal only counts, from when the files are saved

    def __enter__(self) -> StopSignals:
        self._before = proc.set_handlers(_CAUGHT, self._caught)
        self._outer = proc.also_forwarded, proc.told
        proc.also_forwarded = (signal.SIGXCPU,)
        proc.told = self._note
        return self

    def __exit__(self, *_: object) -> None:
        proc.also_forwarded, proc.told = self._outer
        proc.restore_handlers(self._before)

    def save(self, work: Callable[[Say], None]) -> Saved:
        """Do ``work`` in a process of its own, which is killed when no time is left: a
        copy takes its time, and so does a sync. Raises OSError."""
        answer, say = os.pipe()

        def work_and_say() -> None:
            work(lambda line: _write(say, line))
            _write(say, _END)

        try:
            pid = fork_worker(work_and_say)
        finally:
            os.close(say)
        try:
            lines = self._read(answer).decode(errors=_ESCAPED).split("\n")[:-1]
        finally:
            os.close(answer)
            kill(pid)
        if lines[-1:] == [_END]:
            return Saved(lines[:-1], "")
        return Saved(lines, _LATE if self._is_late else _BROKEN)

    @property
    def _is_late(self) -> bool:
        return self._until is not None and time.monotonic() >= self._until

    def _read(self, answer: int) -> bytes:
        """What is said until the end, or until the time is up."""
        text = b""
        while not self._is_late:
            if select.select([answer], [], [], _MOMENT)[0]:
                more = os.read(answer, 1 << 16)
                if not more:
                    break
                text += more
        return text

    def _note(self, number: int) -> None:
        if number in _ENDING and self._until is None:
            self._until = time.monotonic() + self._within

    def _caught(self, number: int, frame: FrameType | None) -> None:
        is_first = self._until is None
        self._note(number)
        if is_first and self._until is not None and not self.saves:
            name = signal.Signals(number).name
            raise JobEnds(f"{name} ended the job while no task of it ran")


def _write(handle: int, line: str) -> None:
    text = line.replace("\n", " ").encode(errors=_ESCAPED) + b"\n"
    while text:
        text = text[os.write(handle, text) :]
