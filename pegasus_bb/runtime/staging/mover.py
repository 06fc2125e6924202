"""Copies many files: copied, durable, renamed, and only then reported.

    walk (caller) -> batches -> copiers (threads) -> commit.py -> outcomes

A failure affects only its own file. Memory does not grow with the number of files:
every queue is bounded, and the walk waits for space in it.
"""

from __future__ import annotations

import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator

from pegasus_bb.core.paths import is_long
from pegasus_bb.runtime.staging.commit import Committer, put_in, until
from pegasus_bb.runtime.staging.digests import SHA256, Digest
from pegasus_bb.runtime.staging.items import Batch, Copier, CopyOutcome, Folder, Item
from pegasus_bb.runtime.staging.moves import Tell
from pegasus_bb.runtime.staging.parts import new_tag
from pegasus_bb.runtime.staging.plain_copier import Plain, SingleFiles, discard
from pegasus_bb.runtime.staging.pour import ignore_progress
from pegasus_bb.runtime.staging.segments import Segments
from pegasus_bb.runtime.staging.sync import sync

_FILES = 512  # per batch
_BYTES = 32 << 20  # per batch
_PART = 4  # a file above 1/_PART of _BYTES is a batch of its own
_IN_HAND = 4  # batches that wait for a copier
_TO_COMMIT = 4  # batches that wait to become durable; more would delay the end
_BATCHES = 25  # in all queues and threads; each folder of each is open
_OTHERS = 40  # descriptors for other purposes


class Mover:
    """Copies files; items.py has its items and outcomes."""

    def __init__(
        self,
        digest: Digest | None = SHA256,
        *,
        follow: bool = True,
        threads: int = 0,
        tell: Tell = ignore_progress,
        segments: Segments | None = None,
    ) -> None:
        """``digest`` is for large files; small ones have SHA-256. ``follow``: a source
        may be a link. ``threads``: 0 for a default. ``tell`` is called from several
        threads with the bytes just copied. ``segments``: a batch of small files is
        one."""
        self._follow = follow
        self._told = tell
        self._segments = segments
        self._threads = threads or min(4, max(2, os.cpu_count() or 2))
        self.tag = new_tag()
        small = None if digest is None else SHA256  # the only one of the helper
        self._small = _helper(digest=small is not None) or Plain(small)
        self._single_files = SingleFiles(digest, segments)
        pairs = max(1, (_most_handles() - _OTHERS) // 2)  # of open folders
        self._folders = max(1, pairs // _BATCHES)
        self._share = min(1.0, pairs / _BATCHES)  # of the queue lengths

    def move(self, items: Iterable[Item]) -> Iterator[CopyOutcome]:
        """Copy all ``items``, a lazy iterable.

        Yields the outcome of each, in any order; a copy that is reported is durable.
        """
        outcomes: deque[CopyOutcome] = deque()  # extend and popleft are atomic
        to_commit = max(1, int(self._share * _TO_COMMIT))
        committer = Committer(self.tag, outcomes.extend, to_commit)
        in_hand = max(1, int(self._share * _IN_HAND))
        threads = _CopierThreads(
            self._threads, in_hand, lambda batch: self._copy(batch, committer)
        )
        try:
            for batch in self._batches(items):
                for _ in threads.put(batch):
                    yield from _pop_all(outcomes)
            for ending in (threads.ending(), committer.ending()):
                for _ in ending:
                    yield from _pop_all(outcomes)
        except BaseException:
            committer.abort()
            if self._segments is not None:
                self._segments.stop()
            for ending in (threads.ending(), committer.ending()):
                deque(ending, maxlen=0)  # wait until all threads are idle
            raise
        yield from _pop_all(outcomes)
        for fault in (threads.fault, committer.fault):
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
            self._copy_batch(batch, tell)
        except BaseException:
            for item in batch.items:
                discard(item, self.tag)
            raise
        again = batch.copier.changed(batch)
        committer.take(batch)
        for item in again:
            self._copy(Batch([item], self._single_files), committer)

    def _copy_batch(self, batch: Batch, tell: Tell) -> None:
        # The copier of single files takes segments itself.
        if self._segments is None or batch.copier is self._single_files:
            batch.copier.copy(batch, self.tag, follow=self._follow, tell=tell)
            return
        with self._segments.take(sum(item.size for item in batch.items)):
            batch.copier.copy(batch, self.tag, follow=self._follow, tell=tell)
            batch.broken = sync([], list(batch.items), self.tag)

    def _batches(self, items: Iterable[Item]) -> Iterator[Batch]:
        most = _BYTES if self._segments is None else min(_BYTES, self._segments.size)
        copiers = self._small, self._single_files
        groups = [_Batch(copier, self._folders, most) for copier in copiers]
        for item in items:
            large = item.size > most // _PART
            if item.sparse or large or is_long(item.as_name):
                yield Batch([item], self._single_files)
                continue
            group = groups[item.size > self._small.limit]
            group.add(item)
            if group.is_full:
                yield group.batch()
        yield from (group.batch() for group in groups if group.items)


def _helper(*, digest: bool) -> Copier | None:
    try:
        from pegasus_bb.runtime.staging.helper import load
    except ImportError:  # a Python without ctypes
        return None
    return load(digest=digest)


class _Batch:
    """Items that are collected for a batch."""

    def __init__(self, copier: Copier, folders: int, size: int) -> None:
        self.items: list[Item] = []
        self._copier = copier
        self._most = folders
        self._bytes = size
        self._size = 0
        self._folders: set[Folder] = set()

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
        self.items = []
        self._size = 0
        self._folders = set()
        return batch


class _Stopped(Exception):
    """The copy was aborted."""


class _CopierThreads:
    """Threads that copy batches."""

    def __init__(
        self, threads: int, in_hand: int, copy: Callable[[Batch], None]
    ) -> None:
        self._todo: queue.Queue[Batch | None] = queue.Queue(in_hand)
        self._copy = copy
        self.fault: BaseException | None = None  # a bug, not the failure of a file
        self._ends: list[threading.Event] = []  # of each thread
        self._told_to_end = 0  # threads
        for _ in range(threads):
            end = threading.Event()
            thread = threading.Thread(target=self._work, args=(end,), daemon=True)
            try:
                thread.start()
            except RuntimeError:  # no more threads can be started
                break
            self._ends.append(end)

    def put(self, batch: Batch) -> Iterator[None]:
        """Queue ``batch``; waits while the queue is full, and yields to the caller now
        and then. Raises the bug that a copier has met."""
        if not self._ends:
            self._copy(batch)
            yield
            return
        if self.fault is not None:
            raise self.fault
        yield from put_in(self._todo, batch)

    def ending(self) -> Iterator[None]:
        """Wait, after the last ``put``, until all batches are copied. May be called
        again after an interrupt."""
        while self._told_to_end < len(self._ends):
            yield from put_in(self._todo, None)
            self._told_to_end += 1
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


def _pop_all(outcomes: deque[CopyOutcome]) -> Iterator[CopyOutcome]:
    while outcomes:
        yield outcomes.popleft()


def _most_handles() -> int:
    """The number of files that may be open, after raising the soft limit."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 8192 if hard == resource.RLIM_INFINITY else min(hard, 8192)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return 8192 if soft == resource.RLIM_INFINITY else soft
