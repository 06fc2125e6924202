"""An assignment: tasks of one user, done with the mover of staging/."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from typing import Any, Callable

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.refusals import sync_folder
from pegasus_bb.core.removal import NotInTime, remove
from pegasus_bb.runtime.stager_client.dataspace import enter_made
from pegasus_bb.runtime.stager_client.task import COPY, MOVE, REMOVE, SWEEP
from pegasus_bb.runtime.staging.failures import CopyFailed, not_a_file
from pegasus_bb.runtime.staging.items import Item, Landed, item_of, stamp
from pegasus_bb.runtime.staging.lookalikes import Made
from pegasus_bb.runtime.staging.mover import Mover
from pegasus_bb.runtime.staging.onefile import digest_file
from pegasus_bb.runtime.staging.parts import remove_parts
from pegasus_bb.stager.conversation import Conversation, Message, Stopped, WorkerTask
from pegasus_bb.stager.moving import check_not_itself, rename, was_moved, write_note
from pegasus_bb.stager.open_task import OpenTask, open_place
from pegasus_bb.stager.trees import copy_tree, remove_copied

_SLICE = 0.25  # seconds of a removal after which a pause or a cancellation takes effect


def do_tasks(service: Conversation, described: list[Message]) -> None:
    """Do tasks: small files together, as one batch; the others one by one."""
    tasks = [WorkerTask(**each) for each in described]
    service.start()
    try:
        Copying(service).run(tasks)
    finally:
        service.end([task.id for task in tasks])


class Copying:
    """Does one assignment; ``service`` hears how each task has ended."""

    def __init__(self, service: Conversation) -> None:
        self._service = service
        self._made = Made()
        self._places: set[tuple[int, int, str]] = set()  # of small files
        self._small: list[OpenTask] = []
        self._alone: list[WorkerTask] = []

    def run(self, tasks: list[WorkerTask]) -> None:
        """Do all of ``tasks``, small files first and together; what fails costs only
        itself."""
        for task in tasks:
            if _is_file(task) and self._service.begin(task.id):
                self._do(task, self._open_small)
            elif not _is_file(task):
                self._alone.append(task)
        self._together(self._small)
        for task in self._alone:
            if self._service.begin(task.id):
                self._do(task, self._do_alone)

    def _do(self, task: WorkerTask, work: Callable[[WorkerTask], int | None]) -> None:
        """``work`` returns the bytes that were moved; None: it has not ended."""
        try:
            size = work(task)
        except (OSError, PegasusBBError, Stopped) as error:
            self._service.ended(task.id, 0, error)
        else:
            if size is not None:
                self._service.ended(task.id, size, None)

    def _open_small(self, task: WorkerTask) -> int | None:
        """Open what is small, or let it wait for its turn; 0 for a move that is done
        then. Of two with one destination the second waits: the parts of files that are
        copied together have one tag. Raises OSError, PegasusBBError."""
        opened = self._open(task)
        if opened is None:
            return 0
        if opened.is_small and opened.dest_key not in self._places:
            self._places.add(opened.dest_key)
            self._small.append(opened)
        elif self._service.put_back(task.id):
            self._alone.append(task)
        return None

    def _do_alone(self, task: WorkerTask) -> int:
        """Return the bytes moved. Raises OSError, PegasusBBError, Stopped."""
        if task.kind == SWEEP:
            dest = open_place(task, "dest", make=False)
            remove_parts(dest.folder.fd, dest.name, task.tags)
            return 0
        if task.kind == REMOVE:
            return self._remove(task)
        opened = self._open(task)
        return self._large(opened) if opened is not None else 0

    def _open(self, task: WorkerTask) -> OpenTask | None:
        """Return None for a move that is done then. Raises OSError, PegasusBBError."""
        source = open_place(task, "source", make=False)
        is_move = task.kind == MOVE
        try:
            found = source.lstat()
        except FileNotFoundError as error:
            if is_move and was_moved(task, open_place(task, "dest")):
                return None
            error.filename = source.path
            raise
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
            raise not_a_file(source.path)
        opened = OpenTask(task, source, open_place(task, "dest"), found)
        self._made.check(opened.dest.path)
        if is_move:
            check_not_itself(source, opened.dest)
            if rename(opened):
                self._made.add(opened.dest.path)
                return None
        return opened

    def _remove(self, task: WorkerTask) -> int:
        """What a cancelled one has removed by then stays removed."""
        source = open_place(task, "source", make=False)
        while True:
            try:
                remove(source.handle, time.monotonic() + _SLICE)
                break
            except NotInTime:
                self._service.count([task.id], 0)
            except OSError as error:
                if error.filename == source.handle:
                    error.filename = source.path
                raise
        sync_folder(source.folder.fd)
        return 0

    def _large(self, opened: OpenTask) -> int:
        """Do a tree, a large file, or what an earlier try has begun; bytes moved."""
        if stat.S_ISDIR(opened.found.st_mode):
            return self._tree(opened)
        dest = opened.dest
        remove_parts(dest.folder.fd, dest.name, opened.task.tags)
        earlier = _copied_earlier(opened) if opened.task.tags else None
        if earlier is not None:
            return self._finish(opened, earlier)
        _, landed = next(self._landed([opened]))
        return self._finish(opened, landed)

    def _together(self, every: list[OpenTask]) -> None:
        """Where one is cancelled, the others begin again, if they are not there yet."""
        left = {opened.task.id: opened for opened in every}
        while left:
            try:
                for opened, landed in self._landed(list(left.values())):
                    del left[opened.task.id]
                    self._do(opened.task, lambda _: self._finish(opened, landed))  # noqa: B023
            except (OSError, PegasusBBError) as error:
                self._all_ended(list(left), error)
                return
            except Stopped as error:
                stopped = [n for n in left if self._service.is_cancelled(n)]
                self._all_ended(stopped, error)
                left = {n: each for n, each in left.items() if n not in stopped}

    def _all_ended(self, numbers: list[int], why: Exception) -> None:
        for number in numbers:
            self._service.ended(number, 0, why)

    def _landed(self, every: list[OpenTask]) -> Iterator[Any]:
        """(opened, Landed or CopyFailed) of each file, as it becomes durable. Raises
        Stopped where one of them is cancelled."""
        numbers = [opened.task.id for opened in every]
        mover = Mover(
            follow=False, tell=lambda size: self._service.count(numbers, size)
        )
        self._service.began(numbers, mover.tag)
        for outcome in mover.move(_items(every)):
            yield outcome.item.mark, outcome.landed or outcome.failure

    def _tree(self, opened: OpenTask) -> int:
        above = opened.source.folder
        source = above.enter(opened.source.name)
        dest = enter_made(*opened.dest)
        journal = f"{opened.task.state}/{opened.task.id}.jsonl"
        size = copy_tree(
            source,
            dest,
            journal,
            lambda more: self._service.count([opened.task.id], more),
            opened.task.hint,
        )
        if opened.task.kind == MOVE:
            remove_copied(source, dest, journal)
            write_note(opened.task, os.fstat(dest.fd))
            os.rmdir(opened.source.name, dir_fd=above.fd)
            sync_folder(above.fd)
        return size  # the service removes the journal when the end is durable

    def _finish(self, opened: OpenTask, landed: Landed | CopyFailed) -> int:
        """The copy is durable, or it has failed: a move removes the source, if it is
        still what was copied; the bytes. Raises CopyFailed, OSError."""
        if isinstance(landed, CopyFailed):
            raise landed
        made = opened.dest.lstat()
        if stamp(made)[:2] != landed.stamp[:2]:  # two nodes may bring the same
            _check_same_bytes(opened, landed)
        self._made.add(opened.dest.path)
        if opened.task.digest:
            self._service.outcome(opened.task.id, landed.as_noted())
        if opened.task.kind == COPY:
            return landed.size
        write_note(opened.task, made)  # it takes a sync, and the source may change
        now = opened.source.lstat()
        if stamp(now) != landed.source and not _lost_a_name(opened, landed, now):
            raise CopyFailed(
                f"{opened.source.path}: it changed after it was copied, so "
                "the source stays; the copy is whole"
            )
        opened.source.unlink()
        sync_folder(opened.source.folder.fd)
        return landed.size


def _check_same_bytes(opened: OpenTask, landed: Landed) -> None:
    """Raises CopyFailed if something else took the place of the copy; OSError."""
    if digest_file(opened.dest.handle, landed.digest) != landed.digest:
        raise CopyFailed(
            f"{opened.dest.path}: something else was put there after the "
            "copy, so it is not counted as made; copy it again"
        )


def _lost_a_name(opened: OpenTask, landed: Landed, now: os.stat_result) -> bool:
    """Whether all that changed since the copy is that another name of the file went, by
    another move say: that is a change of the file, so its bytes are read again."""
    if now.st_nlink >= opened.found.st_nlink or stamp(now)[:3] != landed.source[:3]:
        return False
    digest = digest_file(opened.source.handle, landed.digest)
    return digest == landed.digest and stamp(opened.source.lstat()) == stamp(now)


def _is_file(task: WorkerTask) -> bool:
    """Whether it may be a small file, of which several are copied together."""
    return task.kind in (COPY, MOVE) and not task.tags


def _items(every: list[OpenTask]) -> Iterator[Item]:
    for each in every:
        yield item_of(
            *each.source,
            each.dest.folder,
            as_name=each.dest.name,
            status=each.found,
            mark=each,
            hint=each.task.hint,
        )


def _copied_earlier(opened: OpenTask) -> Landed | None:
    """The copy, if a killed try has given it its name already: same bytes there."""
    try:
        found = opened.dest.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size != opened.found.st_size:
            return None
        digest = digest_file(opened.source.handle)
        other = digest_file(opened.dest.handle, digest)
    except OSError:
        return None
    same = Landed(found.st_size, digest, stamp(found), stamp(opened.found))
    return same if digest == other else None
