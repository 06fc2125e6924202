"""A worker: does tasks as the user who submitted them, one assignment at a time.

It reads JSON lines on stdin and writes JSON lines on stdout; the service is on the
other ends. What it reads: ``{"do": [task, ...]}``, ``{"cancel": id}``,
``{"pause": true}``, ``{"go": tag}``, ``{"granted": number}``. What it writes:
``{"began": [ids], "tag": ...}`` before the first temporary file, which it makes when it
reads ``go``; ``{"moved": {id: bytes}}`` now and then; ``{"took": [number, bytes,
ids]}`` where a target has a rate, and it goes on when that number is granted;
``{"outcome": [id, outcome]}`` where a task wants that; ``{"ended": [id, state, bytes,
message]}``; ``{"idle": seconds}`` at the end of an assignment: so long a pause or a
rate has held it back; and ``{"lives": true}`` now and then. With ``do`` comes
``piece``, the bytes between two ``took``. It ends with its stdin.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any, Callable

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.refusals import WARNINGS
from pegasus_bb.runtime.stager_client.task import BY_USER, CANCELLED, DONE, FAILED
from pegasus_bb.stager.capabilities import become
from pegasus_bb.stager.copying import Copying, Stopped
from pegasus_bb.stager.messages import message_of
from pegasus_bb.stager.pacing import SharedRate, Stopwatch

_OFTEN = 0.25  # seconds between two messages about the bytes of a task
_NICE = 19  # a copy has 1.5 % of a processor that a job or slurmctld wants, else all
_DEEPEST = 20_000  # calls: a tree may have some thousand levels
Say = Callable[[dict[str, Any]], None]


class Control:
    """What the service says while a task runs."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self.shared, self.held = SharedRate(say), Stopwatch()
        self._unbegun: set[int] = set()  # tasks of the assignment
        self._cancelled: set[int] = set()
        self._lock = threading.Lock()  # of both
        self._going = threading.Event()
        self._going.set()
        self._allowed: set[str] = set()  # tags that are durable
        self._going_on = threading.Condition()

    def handle(self, message: dict[str, Any]) -> None:
        """Do what ``message`` says, from another thread than the copying ones."""
        if "cancel" in message:
            self._cancel(message["cancel"])
        if "do" in message:
            self._unbegun = {task["id"] for task in message["do"]}
            self.shared.begin(message["piece"])
        if "granted" in message:
            self.shared.grant(message["granted"])
        if "go" in message:
            with self._going_on:
                self._allowed.add(message["go"])
                self._going_on.notify_all()
        if message.get("pause") is True:
            self._going.clear()
        elif message.get("pause") is False:
            self._going.set()

    def _cancel(self, task: int) -> None:
        with self._lock:
            self._cancelled.add(task)
            if task in self._unbegun:
                self._end_unbegun(task)

    def _end_unbegun(self, task: int) -> None:
        self._unbegun.discard(task)
        self._say({"ended": [task, CANCELLED, 0, BY_USER]})

    def begin(self, task: int) -> bool:
        """Whether ``task`` begins now; False: it is cancelled, and the service knows.
        Waits for a pause."""
        with self.held.running():
            while not self._going.wait(_OFTEN) and not self.is_cancelled(task):
                pass
        with self._lock:
            was_there = task in self._unbegun
            self._unbegun.discard(task)
            return was_there

    def put_back(self, task: int) -> bool:
        """Whether ``task``, which has begun, waits for its turn again."""
        with self._lock:
            self._unbegun.add(task)
            if task in self._cancelled:
                self._end_unbegun(task)
            return task in self._unbegun

    def is_cancelled(self, task: int) -> bool:
        """Whether ``task`` shall not go on."""
        return task in self._cancelled

    def await_go(self, tag: str) -> None:
        """Return when ``tag`` is written down: the next service finds the parts."""
        with self._going_on:
            self._going_on.wait_for(lambda: tag in self._allowed)
            self._allowed.discard(tag)

    def moved(self, tasks: Sequence[int], size: int) -> None:
        """Count bytes of ``tasks``; wait for a pause or a rate. Raises Stopped if one
        of them is cancelled."""

        def is_over() -> bool:
            return not self._cancelled.isdisjoint(tasks)

        with self.held.running():
            self.shared.take(tasks, size, is_over)
            while not is_over() and not self._going.wait(_OFTEN):
                pass
        if is_over():
            raise Stopped


class Worker:
    """Runs assignments; ``say`` takes a message for the service."""

    def __init__(self, control: Control, say: Say) -> None:
        self._control, self._say = control, say
        self._moved: dict[int, int] = {}
        self._reported_at = 0.0  # a time.monotonic()
        self._lock = threading.Lock()
        self._warnings: list[str] = []  # for the next task that ends

    def run(self, tasks: list[dict[str, Any]]) -> None:
        """Do ``tasks``: small files together, as one batch; the others one by one."""
        self._moved = {}
        WARNINGS.said.clear()  # each user has his own
        WARNINGS.say = self._warnings.append
        copying = Copying(self, self._control)
        held = self._control.held.seconds
        try:
            copying.run(tasks)
        finally:
            with self._control.held.running():
                self._control.shared.end([task["id"] for task in tasks])
            self._say({"idle": self._control.held.seconds - held})

    def began(self, tasks: list[int], tag: str) -> None:
        """Report tasks that begin; return when their tag is durable."""
        self._say({"began": tasks, "tag": tag})
        self._control.await_go(tag)

    def outcome(self, task: int, outcome: dict[str, Any]) -> None:
        """Report what the copy ``task``, which is about to end, has made."""
        self._say({"outcome": [task, outcome]})

    def ended(self, task: int, size: int, failure: BaseException | None) -> None:
        """Report how a task has ended."""
        state = DONE
        message = "; ".join(self._warnings)
        self._warnings.clear()
        if isinstance(failure, Stopped):
            state = CANCELLED
            message = BY_USER
        elif isinstance(failure, (OSError, PegasusBBError)):
            state = FAILED
            message = message_of(failure)
        elif failure is not None:
            state = FAILED
            message = f"{type(failure).__name__}: {failure}"
        self._say({"ended": [task, state, size, message]})

    def count(self, tasks: Sequence[int], size: int) -> None:
        """Report bytes; those of small files that are copied together, later."""
        if len(tasks) == 1:
            with self._lock:
                self._moved[tasks[0]] = self._moved.get(tasks[0], 0) + size
                now = time.monotonic()
                moved = self._moved if now - self._reported_at >= _OFTEN else None
                if moved is not None:
                    self._moved, self._reported_at = {}, now
            if moved:
                self._say({"moved": moved})
        self._control.moved(tasks, size)


def main(uid: str, sign: str) -> int:
    """Serve as ``uid`` until stdin ends; then nothing goes on. ``sign``: seconds
    between two signs of life."""
    become(int(uid))
    os.nice(_NICE)
    sys.setrecursionlimit(_DEEPEST)
    os.umask(0o077)  # what is made on the way; copies get the bits of their sources
    lock = threading.Lock()
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a stray print must not look like a message

    def say(message: dict[str, Any]) -> None:
        try:
            with lock:
                out.write(json.dumps(message) + "\n")
                out.flush()
        except BrokenPipeError:  # the service has gone, and its next one goes on
            os._exit(0)

    threading.Thread(target=_live, args=(say, float(sign)), daemon=True).start()
    control = Control(say)
    worker = Worker(control, say)
    for line in sys.stdin:
        message = json.loads(line)
        control.handle(message)
        if "do" in message:
            tasks = message["do"]
            threading.Thread(target=worker.run, args=(tasks,), daemon=True).start()
    os._exit(0)  # threads of a task that the service has left end here


def _live(say: Say, seconds: float) -> None:
    """A thread of its own: a slow disk stops the others, SIGSTOP stops this one too."""
    while True:
        say({"lives": True})
        time.sleep(seconds)
