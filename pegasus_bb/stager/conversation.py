"""What a worker and the service say to each other while an assignment is done.

A worker reads JSON lines: ``{"do": [task, ...], "piece": bytes}``, ``{"cancel": id}``,
``{"pause": true}``, ``{"go": tag}``, ``{"granted": number}``. What it writes:
``{"began": [ids], "tag": ...}`` before the first temporary file, which it makes when it
reads ``go``; ``{"moved": {id: bytes}}`` now and then; ``{"took": [number, bytes,
ids]}`` after each ``piece`` where a target has a rate, and it goes on when that number
is granted; ``{"outcome": [id, outcome]}`` where a task wants that; ``{"ended": [id,
state, bytes, message]}``; ``{"idle": seconds}`` at the end of an assignment: so long a
pause or a rate has held it back; and ``{"lives": true}`` now and then.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, Callable, NamedTuple

from pegasus_bb.core.refusals import WARNINGS
from pegasus_bb.runtime.stager_client.task import BY_USER, CANCELLED, DONE, FAILED
from pegasus_bb.stager.messages import message_of

_OFTEN = 0.25  # seconds between two messages about the bytes of a task
_REST = 10.0  # seconds at most that a worker waits for bytes of tasks that have ended

Message = dict[str, Any]
Say = Callable[[Message], None]


class WorkerTask(NamedTuple):
    """A task as a worker gets it."""

    id: int
    kind: str
    source: str
    dest: str
    digest: bool
    hint: int
    tags: list[str]  # of tries that did not end
    spaces: dict[str, str]  # the folder of each dataspace
    state: str  # the folder for what the next try needs


class Stopped(Exception):
    """The user has cancelled the task."""


class Conversation:
    """The worker's side; ``say`` takes a message for the service. The service calls
    ``handle`` from another thread than those that copy."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._unbegun: set[int] = set()  # tasks of the assignment
        self._cancelled: set[int] = set()
        self._allowed: set[str] = set()  # tags that are durable
        self._is_paused = False
        self._piece = self._untold = 0  # bytes
        self._told = self._granted = 0  # numbers of pieces
        self._held_back, self._since, self._held = 0, 0.0, 0.0  # threads, seconds
        self._moved: Counter[int] = Counter()
        self._moved_at = 0.0  # a time.monotonic(): when that was told
        self._warnings: list[str] = []  # for the next task that ends
        self._heard = threading.Condition()  # of all this
        self._one = threading.Lock()  # a piece at a time

    def handle(self, message: Message) -> None:
        """Do what ``message`` says."""
        with self._heard:
            if "cancel" in message:
                task = message["cancel"]
                self._cancelled.add(task)
                if task in self._unbegun:
                    self._end_unbegun(task)
            if "do" in message:
                self._unbegun = {task["id"] for task in message["do"]}
                self._piece, self._untold = message["piece"], 0
            if "go" in message:
                self._allowed.add(message["go"])
            self._granted = max(self._granted, message.get("granted", 0))
            self._is_paused = message.get("pause", self._is_paused)
            self._heard.notify_all()

    def start(self) -> None:
        """Begin an assignment."""
        self._moved, self._held = Counter(), 0.0
        WARNINGS.said.clear()  # each user has his own
        WARNINGS.say = self._warnings.append

    def end(self, tasks: Sequence[int]) -> None:
        """The assignment ends. The rest is waited for, too: else many small files would
        go faster than the rate."""
        if self._piece and self._untold:
            until = time.monotonic() + _REST
            self._tell(tasks, self._untold, lambda: time.monotonic() > until)
            self._untold = 0
        self._say({"idle": self._held})

    def begin(self, task: int) -> bool:
        """Whether ``task`` begins now; False: it is cancelled, and the service knows.
        Waits for a pause."""
        self._await(lambda: not self._is_paused or self.is_cancelled(task))
        with self._heard:
            was_there = task in self._unbegun
            self._unbegun.discard(task)
            return was_there

    def put_back(self, task: int) -> bool:
        """Whether ``task``, which has begun, waits for its turn again."""
        with self._heard:
            self._unbegun.add(task)
            if task in self._cancelled:
                self._end_unbegun(task)
            return task in self._unbegun

    def is_cancelled(self, task: int) -> bool:
        """Whether ``task`` shall not go on."""
        return task in self._cancelled

    def began(self, tasks: list[int], tag: str) -> None:
        """Report tasks that begin; return when their tag is durable, so that the next
        service finds the parts."""
        self._say({"began": tasks, "tag": tag})
        with self._heard:
            self._heard.wait_for(lambda: tag in self._allowed)
            self._allowed.discard(tag)

    def count(self, tasks: Sequence[int], size: int) -> None:
        """Report bytes; those of small files that are copied together, later. Wait for
        a pause or a rate: one piece at a time, so each worker has an equal part where
        all want more. Raises Stopped if a task is cancelled."""

        def is_over() -> bool:
            return not self._cancelled.isdisjoint(tasks)

        if len(tasks) == 1:
            self._count_one(tasks[0], size)
        if self._piece:
            with self._one:
                self._untold += size
                while self._untold >= self._piece and not is_over():
                    self._untold -= self._piece
                    self._tell(tasks, self._piece, is_over)
        self._await(lambda: not self._is_paused or is_over())
        if is_over():
            raise Stopped

    def outcome(self, task: int, outcome: dict[str, Any]) -> None:
        """Report what the copy ``task``, which is about to end, has made."""
        self._say({"outcome": [task, outcome]})

    def ended(self, task: int, size: int, failure: Exception | None) -> None:
        """Report how a task has ended."""
        state = DONE
        message = "; ".join(self._warnings)
        self._warnings.clear()
        if isinstance(failure, Stopped):
            state = CANCELLED
            message = BY_USER
        elif failure is not None:
            state = FAILED
            message = message_of(failure)
        self._say({"ended": [task, state, size, message]})

    def _end_unbegun(self, task: int) -> None:
        self._unbegun.discard(task)
        self._say({"ended": [task, CANCELLED, 0, BY_USER]})

    def _count_one(self, task: int, size: int) -> None:
        with self._heard:
            self._moved[task] += size
            now = time.monotonic()
            if now - self._moved_at >= _OFTEN:
                self._say({"moved": self._moved})
                self._moved, self._moved_at = Counter(), now

    def _tell(
        self, tasks: Sequence[int], size: int, is_over: Callable[[], bool]
    ) -> None:
        """Tell the service of a piece; return when it is granted."""
        self._told += 1
        self._say({"took": [self._told, size, list(tasks)]})
        self._await(lambda: self._granted >= self._told or is_over())

    def _await(self, is_so: Callable[[], bool]) -> None:
        """Return when ``is_so``; the seconds in which at least one thread is held back
        are no work."""
        with self._heard:
            self._held_back += 1
            if self._held_back == 1:
                self._since = time.monotonic()
            while not is_so():
                self._heard.wait(_OFTEN)
            self._held_back -= 1
            if not self._held_back:
                self._held += time.monotonic() - self._since
