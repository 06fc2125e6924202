"""Copied files become durable, then get their names, then are told of.

One thread syncs for all, some batches a round: a file system that is synced all the
time has no time to copy. Another gives the names meanwhile, which become durable with
the data of a later round.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from typing import Any, Callable, Deque, Iterator, List, Optional, Tuple

from pegasus_bb.staging.failures import CopyFailed, explained
from pegasus_bb.staging.items import Batch, Elsewhere, Outcome
from pegasus_bb.staging.plain import discard
from pegasus_bb.staging.sync import Broken, sync

_PAUSE = 0.5  # seconds between rounds, while less than that is copied
_MOMENT = 0.25  # seconds


class Committer:
    """Takes copied batches; ``tell`` hears what became of each item."""

    def __init__(self, tag: str, tell: Callable[[Outcome], None], waiting: int) -> None:
        """``waiting``: batches of a round; more would only fill the disk with what has
        no name yet. Raises CopyFailed where there is no room for a thread."""
        self._tag, self._tell, self._waiting = tag, tell, waiting
        self._copied: queue.Queue[Optional[Batch]] = queue.Queue(waiting)
        self._durable: queue.Queue[Optional[Tuple[Batch, Broken]]] = queue.Queue(
            waiting
        )
        self._named: Deque[List[Outcome]] = deque()  # of a batch each
        self._unsure = 0  # batches that were to get names, which are not durable yet
        self._aborted = threading.Event()
        self._all_named = threading.Event()
        self._ended = threading.Event()
        self._dismissed = False
        self.fault: Optional[BaseException] = None  # a mistake of ours
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
        """All batches were taken: ends when all are told of. Can be asked for again
        where something has interrupted it."""
        if not self._dismissed:
            yield from put_in(self._copied, None)
            self._dismissed = True
        yield from until(self._ended)

    def abort(self) -> None:
        """From now on nothing gets its name; temporary files are removed."""
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

    def _next(self) -> Tuple[List[Batch], bool]:
        """The batches of the next round, and whether they are the last.

        Waits without end only where no name waits to be made durable.
        """
        found: List[Batch] = []
        until = time.monotonic() + _PAUSE
        while len(found) < self._waiting:
            left = until - time.monotonic() if found or self._unsure else None
            try:
                batch = self._copied.get(timeout=None if left is None else max(0, left))
            except queue.Empty:
                break
            if batch is None:
                return found, True
            found.append(batch)
        return found, False

    def _round(self, batches: List[Batch]) -> None:
        named = self._names_so_far()  # what is named from here on, the next sync keeps
        items = [item for batch in batches for item in batch.items]
        broken = sync([outcome.item for outcome in named], items, self._tag)
        for batch in batches:
            broken.update(batch.broken)  # an error of a sync is told once
        for outcome in named:
            self._tell(_unless(broken, outcome))
        for item in items:
            if id(item) in broken:
                discard(item, self._tag)
        for batch in batches:
            self._durable.put((batch, broken))
            self._unsure += 1

    def _names_so_far(self) -> List[Outcome]:
        found: List[Outcome] = []
        while self._named:
            found += self._named.popleft()
            self._unsure -= 1
        return found

    def _give_names(self) -> None:
        for batch, broken in iter(self._durable.get, None):
            named: List[Outcome] = []
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

    def _name(self, batch: Batch, broken: Broken, named: List[Outcome]) -> None:
        answers = batch.copier.rename(batch, self._tag)
        for item, answer in zip(batch.items, answers):
            if isinstance(answer, Elsewhere):
                continue
            if isinstance(answer, CopyFailed):
                self._tell(_unless(broken, Outcome(item, None, answer)))
            else:
                named.append(Outcome(item, answer))

    def _discard(self, batches: List[Batch]) -> None:
        for batch in batches:
            for item in batch.items:
                discard(item, self._tag)


def _unless(broken: Broken, outcome: Outcome) -> Outcome:
    """``outcome``, unless the disk could not make it durable."""
    item = outcome.item
    error = broken.get(id(item))
    if error is None:
        return outcome
    return Outcome(item, None, explained(error, item.source_path, item.dest_path))


# Waiting ends every moment, so that it can be interrupted. Not by Thread.join: Ctrl-C
# in it makes Python 3.7 to 3.13 take the thread for ended while it still works.
def until(event: threading.Event) -> Iterator[None]:
    """Ends when ``event`` is set; the caller has a turn every moment."""
    while not event.wait(_MOMENT):
        yield
    yield


def put_in(line: queue.Queue[Any], thing: Any) -> Iterator[None]:
    """Ends when ``thing`` is in ``line``; the caller has a turn every moment."""
    while True:
        try:
            line.put(thing, timeout=_MOMENT)
            break
        except queue.Full:
            yield
    yield
