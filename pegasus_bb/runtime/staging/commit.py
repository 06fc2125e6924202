"""Makes copied files durable, then renames them, then reports them.

One thread syncs several batches per round, because constant syncs would slow down the
copies. Meanwhile another thread renames; a later round makes the names durable.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator

from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.runtime.staging.failures import CopyFailed, explained
from pegasus_bb.runtime.staging.items import Batch, CopyOutcome, Landed
from pegasus_bb.runtime.staging.plain_copier import discard
from pegasus_bb.runtime.staging.sync import Broken, sync

if TYPE_CHECKING:
    from typing import Any

_PAUSE = 0.5  # seconds between rounds, while less than that is copied
_MOMENT = 0.25  # seconds


class Committer:
    """Takes copied batches, and calls ``tell`` with the outcomes of their items."""

    def __init__(
        self, tag: str, tell: Callable[[list[CopyOutcome]], None], waiting: int
    ) -> None:
        """``waiting`` is the number of batches per round; more would only fill the disk
        with temporary files. Raises CopyFailed if a thread cannot be started."""
        self._tag = tag
        self._tell = tell
        self._waiting = waiting
        self._copied: queue.Queue[Batch | None] = queue.Queue(waiting)
        self._durable: queue.Queue[tuple[Batch, Broken] | None] = queue.Queue(waiting)
        self._named: deque[list[CopyOutcome]] = deque()  # renamed files, by batch
        self._unsure = 0  # batches whose names are not durable yet
        self._aborted = threading.Event()
        self._all_named = threading.Event()
        self._ended = threading.Event()
        self._is_told_to_end = False
        self.fault: BaseException | None = None  # a bug
        try:
            threading.Thread(target=self._give_names, daemon=True).start()
            threading.Thread(target=self._work, daemon=True).start()
        except RuntimeError as error:
            self._durable.put(None)
            raise CopyFailed(
                f"no room for a thread ({error}): allow this process more memory or "
                "processes (ulimit -v, ulimit -u)"
            ) from error

    def take(self, batch: Batch) -> None:
        self._copied.put(batch)

    def ending(self) -> Iterator[None]:
        """Wait, after the last ``take``, until all outcomes are reported. May be called
        again after an interrupt."""
        if not self._is_told_to_end:
            yield from put_in(self._copied, None)
            self._is_told_to_end = True
        yield from until(self._ended)

    def abort(self) -> None:
        """Stop renaming, and remove temporary files."""
        self._aborted.set()

    @property
    def is_aborted(self) -> bool:
        return self._aborted.is_set()

    def _work(self) -> None:
        ended = False
        while not ended:
            batches, ended = self._next()
            try:
                if self._aborted.is_set():
                    self._discard(batches)
                else:
                    self._round(batches)
            except BaseException as error:
                self.fault = self.fault or error
                self._discard(batches)
        self._durable.put(None)
        self._all_named.wait()
        try:
            self._round([])
        except BaseException as error:
            self.fault = self.fault or error
        self._ended.set()

    def _next(self) -> tuple[list[Batch], bool]:
        """The batches of the next round, and whether they are the last.

        Waits without a limit only if all names are durable.
        """
        batches: list[Batch] = []
        until = time.monotonic() + _PAUSE
        while len(batches) < self._waiting:
            left = until - time.monotonic() if batches or self._unsure else None
            try:
                batch = self._copied.get(timeout=None if left is None else max(0, left))
            except queue.Empty:
                break
            if batch is None:
                return batches, True
            batches.append(batch)
        return batches, False

    def _round(self, batches: list[Batch]) -> None:
        named = self._take_named()  # later renames are for the next sync
        items = [item for batch in batches for item in batch.items]
        broken = sync([outcome.item for outcome in named], items, self._tag)
        for batch in batches:
            broken.update(batch.broken)  # the kernel reports an error of a sync once
        if broken:
            named = [_checked_outcome(broken, outcome) for outcome in named]
        self._tell(named)
        for item in items:
            if id(item) in broken:
                discard(item, self._tag)
        for batch in batches:
            self._durable.put((batch, broken))
            self._unsure += 1

    def _take_named(self) -> list[CopyOutcome]:
        named: list[CopyOutcome] = []
        while self._named:
            named += self._named.popleft()
            self._unsure -= 1
        return named

    def _give_names(self) -> None:
        for batch, broken in iter(self._durable.get, None):
            named: list[CopyOutcome] = []
            try:
                if self._aborted.is_set():
                    self._discard([batch])
                else:
                    self._name(batch, broken, named)
            except BaseException as error:
                self.fault = self.fault or error
                self._discard([batch])
            self._named.append(named)
        self._all_named.set()

    def _name(self, batch: Batch, broken: Broken, named: list[CopyOutcome]) -> None:
        answers = batch.copier.rename(batch, self._tag)
        for item, answer in zip(batch.items, answers):
            if isinstance(answer, Landed):
                named.append(CopyOutcome(item, answer))
            elif isinstance(answer, CopyFailed):
                self._tell([_checked_outcome(broken, CopyOutcome(item, None, answer))])

    def _discard(self, batches: list[Batch]) -> None:
        for batch in batches:
            for item in batch.items:
                discard(item, self._tag)


def _checked_outcome(broken: Broken, outcome: CopyOutcome) -> CopyOutcome:
    """``outcome``, or a failure if the disk could not make the file durable."""
    item = outcome.item
    error = broken.get(id(item))
    if error is None:
        return outcome
    return CopyOutcome(item, None, explained(error, item.source_path, item.dest_path))


# Waits are short, so that they can be interrupted. They do not use Thread.join: after
# Ctrl-C in it, Python 3.9 to 3.13 consider a running thread ended.
def until(event: threading.Event) -> Iterator[None]:
    """Wait until ``event`` is set, and yield to the caller now and then."""
    while not event.wait(_MOMENT):
        yield
    yield


def put_in(line: queue.Queue[Any], thing: Any) -> Iterator[None]:
    """Wait until ``thing`` is in ``line``, and yield to the caller now and then."""
    while True:
        try:
            line.put(thing, timeout=_MOMENT)
            break
        except queue.Full:
            yield
    yield
