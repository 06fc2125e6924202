"""Many files at once: whole, durable, then named, and only then told of.

    walk (caller) -> batches -> copiers (threads) -> commit.py -> outcomes

A file that fails costs itself only. Memory does not grow with the number of files:
every queue has an end, and the walk waits for it.
"""

from __future__ import annotations

import os
import queue
import threading
from collections import deque
from typing import Callable, Deque, Iterable, Iterator, List, Optional, Set

from pegasus_bb.paths import is_long
from pegasus_bb.staging.commit import Committer, put_in, until
from pegasus_bb.staging.digests import SHA256, Digest
from pegasus_bb.staging.items import Batch, Copier, Folder, Item, Outcome
from pegasus_bb.staging.moves import Tell
from pegasus_bb.staging.parts import new_tag
from pegasus_bb.staging.plain import Alone, Plain, discard
from pegasus_bb.staging.pour import ignore_progress
from pegasus_bb.staging.segments import Segments
from pegasus_bb.staging.sync import sync

_FILES = 512  # of a batch
_BYTES = 32 << 20
_PART = 4  # a file of more than this part of them is a batch of its own
_IN_HAND = 4  # batches that wait for a copier
_TO_COMMIT = 4  # batches that wait to be made durable; the last delay the end
_BATCHES = 25  # in all queues and hands; each folder of each is open
_OTHERS = 40  # handles for all else


class Mover:
    """Copies files; items.py has what it takes and answers."""

    def __init__(
        self,
        digest: Optional[Digest] = SHA256,
        follow: bool = True,
        threads: int = 0,
        tell: Tell = ignore_progress,
        segments: Optional[Segments] = None,
    ) -> None:
        """``digest`` is of large files; small ones have SHA-256. ``follow``: a source
        may be a link. ``threads``: 0 for what is best here. ``tell`` hears the bytes as
        they go, from several threads. ``segments``: small files are one together."""
        self._follow, self._told, self._segments = follow, tell, segments
        self._threads = threads or min(4, max(2, os.cpu_count() or 2))
        self.tag = new_tag()
        small = None if digest is None else SHA256  # the helper has no other
        self._small = _helper(small is not None) or Plain(small)
        self._alone = Alone(digest, segments)
        pairs = max(1, (_most_handles() - _OTHERS) // 2)  # of folders open at a time
        self._folders = max(1, pairs // _BATCHES)
        self._share = min(1.0, pairs / _BATCHES)  # of what may be in hand

    def move(self, items: Iterable[Item]) -> Iterator[Outcome]:
        """Copy all ``items``, which may be made while others are copied.

        Yields what became of each, in no order; what is told of is durable.
        """
        outcomes: Deque[Outcome] = deque()  # append and popleft are atomic
        to_commit = max(1, int(self._share * _TO_COMMIT))
        committer = Committer(self.tag, outcomes.append, to_commit)
        in_hand = max(1, int(self._share * _IN_HAND))
        crew = _Crew(self._threads, in_hand, lambda batch: self._copy(batch, committer))
        try:
            for batch in self._batches(items):
                for _ in crew.giving(batch):
                    yield from _taken(outcomes)
            for ending in (crew.ending(), committer.ending()):
                for _ in ending:
                    yield from _taken(outcomes)
        except BaseException:
            committer.abort()
            if self._segments is not None:
                self._segments.stop()
            for ending in (crew.ending(), committer.ending()):
                deque(ending, maxlen=0)  # nothing of ours may be at work after this
            raise
        yield from _taken(outcomes)
        for fault in (crew.fault, committer.fault):
            if fault is not None:
                raise fault

    def _copy(self, batch: Batch, committer: Committer) -> None:
        if committer.is_aborted:
            return

        def tell(size: int) -> None:
            if committer.is_aborted:
                raise _Stopped
            self._told(size)

        try:
            self._bring(batch, tell)
        except BaseException:
            for item in batch.items:
                discard(item, self.tag)
            raise
        again = batch.copier.changed(batch)
        committer.take(batch)
        for item in again:
            self._copy(Batch([item], self._alone), committer)

    def _bring(self, batch: Batch, tell: Tell) -> None:
        if self._segments is None or batch.copier is self._alone:  # which asks itself
            batch.copier.copy(batch, self.tag, self._follow, tell)
            return
        with self._segments.take(sum(item.size for item in batch.items)):
            batch.copier.copy(batch, self.tag, self._follow, tell)
            batch.broken = sync([], list(batch.items), self.tag)

    def _batches(self, items: Iterable[Item]) -> Iterator[Batch]:
        most = _BYTES if self._segments is None else min(_BYTES, self._segments.size)
        piles = [_Pile(by, self._folders, most) for by in (self._small, self._alone)]
        for item in items:
            large = item.size > most // _PART
            if item.hollow or large or is_long(item.as_name):
                yield Batch([item], self._alone)
                continue
            pile = piles[item.size > self._small.limit]
            pile.add(item)
            if pile.is_full:
                yield pile.batch()
        yield from (pile.batch() for pile in piles if pile.items)


def _helper(digest: bool) -> Optional[Copier]:
    try:
        from pegasus_bb.staging.helper import load
    except ImportError:  # a Python without ctypes
        return None
    return load(digest)


class _Pile:
    """What becomes a batch once it is worth one."""

    def __init__(self, copier: Copier, folders: int, size: int) -> None:
        self.items: List[Item] = []
        self._copier, self._most, self._bytes = copier, folders, size
        self._size = 0
        self._folders: Set[Folder] = set()

    def add(self, item: Item) -> None:
        self.items.append(item)
        self._size += item.size
        self._folders.add(item.dest)

    @property
    def is_full(self) -> bool:
        many = len(self.items) >= _FILES or len(self._folders) >= self._most
        return many or self._size >= self._bytes

    def batch(self) -> Batch:
        batch = Batch(self.items, self._copier)
        self.items, self._size, self._folders = [], 0, set()
        return batch


class _Stopped(Exception):
    """The copy was given up."""


class _Crew:
    """Threads that copy batches."""

    def __init__(
        self, threads: int, in_hand: int, copy: Callable[[Batch], None]
    ) -> None:
        self._todo: queue.Queue[Optional[Batch]] = queue.Queue(in_hand)
        self._copy = copy
        self.fault: Optional[BaseException] = None  # a mistake of ours, not a file's
        self._ends: List[threading.Event] = []  # of each thread
        self._dismissed = 0  # threads
        for _ in range(threads):
            end = threading.Event()
            thread = threading.Thread(target=self._work, args=(end,), daemon=True)
            try:
                thread.start()
            except RuntimeError:  # no room for more of them
                break
            self._ends.append(end)

    def giving(self, batch: Batch) -> Iterator[None]:
        """Waits while enough is in hand; the caller looks after other things between.
        Raises the mistake that ended a copier."""
        if not self._ends:
            self._copy(batch)
            yield
            return
        if self.fault is not None:
            raise self.fault
        yield from put_in(self._todo, batch)

    def ending(self) -> Iterator[None]:
        """All batches were given: ends when they are copied. Can be asked for again
        where something has interrupted it."""
        while self._dismissed < len(self._ends):
            yield from put_in(self._todo, None)
            self._dismissed += 1
        for end in self._ends:
            yield from until(end)

    def _work(self, end: threading.Event) -> None:
        try:
            for batch in iter(self._todo.get, None):
                try:
                    self._copy(batch)
                except BaseException as error:
                    self.fault = self.fault or error
        finally:
            end.set()


def _taken(outcomes: Deque[Outcome]) -> Iterator[Outcome]:
    while outcomes:
        yield outcomes.popleft()


def _most_handles() -> int:
    """How many files may be open; as many as the system lets us have."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 8192 if hard == resource.RLIM_INFINITY else min(hard, 8192)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return 8192 if soft == resource.RLIM_INFINITY else soft
