"""The service without its sockets: what a user and an administrator may ask of it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import time
from collections.abc import Container, Iterable, Sequence
from itertools import islice
from typing import Any, Callable

from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.runtime.stager_client.task import Origin, StagerTask, check_specs
from pegasus_bb.stager import store
from pegasus_bb.stager.dispatch import Dispatch
from pegasus_bb.stager.held_tasks import Retention
from pegasus_bb.stager.moving import note_path
from pegasus_bb.stager.programs import Discards
from pegasus_bb.stager.site_config import Config
from pegasus_bb.stager.store import Change, Store

_CANCELLED_AT_ONCE = 1_000  # tasks: some 20 ms
_NOTE = re.compile(r"([0-9]{1,18})\.(?:moved|jsonl)|\.([0-9]{1,18})\.moved\..*\.part")

Also = Callable[[range], Sequence[Change]]


class Service:
    """One service. All calls come from the thread of its event loop."""

    def __init__(self, config: Config, loop: asyncio.AbstractEventLoop) -> None:
        """Knows what an earlier one knew. Raises OSError."""
        self._config = config
        self.spaces, self.loop = config.spaces, loop
        self._drained: Callable[[], None] | None = None
        self.discards = Discards(config.spaces)
        # By task: those that are waited for, or have ended and not yet durably.
        self._ends: dict[int, asyncio.Future[None]] = {}
        self.dispatch = Dispatch(config, self._began, self._end)
        self.store = Store(config.database, loop.call_soon_threadsafe)
        found = self.store.read()
        self.dispatch.estimates.recall(found.learned)
        self.tasks, self._next = found.tasks, found.next_id
        self._retention = Retention(self.tasks, self._forget)
        self.dispatch.tags = found.tags
        # Have ended, and the database did not take it.
        self._unwritten: list[StagerTask] = []
        unfinished = [task for task in self.tasks.values() if not task.has_ended]
        for task in unfinished:
            self.dispatch.add([task])
        _sweep_notes(config.users, {task.id for task in unfinished})

    async def submit(
        self, uid: int, specs: list[Any], raw: bytes, also: Also = lambda numbers: ()
    ) -> list[StagerTask]:
        """Accept all of ``specs`` or none; return their tasks when they are durable,
        together with what ``also`` returns for their numbers.

        ``raw`` is the request's own line, which is stored as it is. Raises Refused.
        """
        if self._drained is not None:
            raise Refused("draining", "the service takes no new task: it will end")
        if not specs:
            raise Refused("bad-task", "tasks is a list with at least one task")
        self._retention.check_room(uid, len(specs))
        check_specs(specs, self.spaces)
        origin = Origin(uid, time.time(), self._next, len(specs))
        numbers = range(self._next, self._next + len(specs))
        self._next = numbers.stop
        self._retention.accept(origin)
        written: asyncio.Future[OSError | None] = self.loop.create_future()
        changes = [*store.accepted(origin, raw), *also(numbers)]
        self.store.write(changes, written.set_result)
        error = await asyncio.shield(written)
        if error is not None:
            self._retention.give_up(origin)
            why = f"the database of the service takes no more: {error.strerror}"
            raise Refused("not-durable", why)
        tasks = [StagerTask(n, origin, spec) for n, spec in zip(numbers, specs)]
        self.tasks.update((task.id, task) for task in tasks)
        self.dispatch.add(tasks)
        self.dispatch.hand_out()
        return tasks

    def visible(
        self, uid: int, ids: list[int] | None, *, everyone: bool = False
    ) -> list[StagerTask]:
        """The tasks ``ids`` of ``uid``, or all for None. Raises Refused, in the same
        words for a task of another user and for none at all."""
        if ids is None:
            return [t for t in self.tasks.values() if everyone or t.uid == uid]
        found = map(self.tasks.get, ids)
        mine = [t for t in found if t is not None and (everyone or t.uid == uid)]
        if len(mine) != len(ids):
            raise Refused("no-such-task", "you have no task of one of these numbers")
        return mine

    async def ended(self, tasks: Iterable[StagerTask]) -> None:
        """Return when all of ``tasks`` have ended durably. One of them is waited for at
        a time, so it costs little, however many they are."""
        for task in tasks:
            if not task.has_ended or task.id in self._ends:
                await asyncio.shield(self._end_of(task))

    def _end_of(self, task: StagerTask) -> asyncio.Future[None]:
        return self._ends.setdefault(task.id, self.loop.create_future())

    def cancel(self, tasks: Iterable[StagerTask]) -> None:
        """Stop those of ``tasks`` that have not ended: some now, the others at the next
        turns of the loop, so that other clients do not wait for all of them."""
        left = iter(tasks)
        some = list(islice(left, _CANCELLED_AT_ONCE))
        for task in some:
            if not task.has_ended:
                self.dispatch.cancel(task)
        if some:
            self.loop.call_soon(self.cancel, left)

    def drain(self, drained: Callable[[], None]) -> None:
        """Take no new task; ``drained`` is called when what was accepted is done."""
        self._drained = drained
        if self.is_idle:
            drained()

    @property
    def is_idle(self) -> bool:
        """Whether no task waits or runs."""
        return self._retention.is_idle

    def close(self) -> None:
        """Stop; what has not ended goes on with the next service."""
        self.discards.close()
        self.dispatch.close()
        self._note_learned()
        self._note_unwritten()
        self.store.close()

    def tidy(self) -> None:
        """Forget old tasks; write what a full disk did not take."""
        self._note_learned()
        self._note_unwritten()
        if self.store.trouble:  # whether it still does
            self.store.write(store.noted("next", self._next))
        self._retention.forget_old()
        self.dispatch.queue.tidy()

    def _note_learned(self) -> None:
        if self.dispatch.estimates.has_news:
            learned = self.dispatch.estimates.learned()
            self.store.write(store.noted("learned", learned))

    def _forget(self, origin: Origin) -> None:
        self.store.write(store.forgotten(origin, self._next))

    def _began(self, tasks: list[int], tag: str, go: Callable[[], None]) -> None:
        """``go`` also where the disk is full: the copies shall end all the same."""
        self.store.write(store.began(tasks, tag), lambda error: go())

    def _end(self, task: StagerTask, state: str, size: int, why: str) -> None:
        task.state, task.moved, task.message = state, size, why
        task.ended_at = time.time()
        self._retention.end(task)
        self._end_of(task)
        self._note_ends([task])

    def _note_unwritten(self) -> None:
        ended, self._unwritten = self._unwritten, []
        if ended:
            self._note_ends(ended)

    def _note_ends(self, tasks: list[StagerTask]) -> None:
        def durable(error: OSError | None) -> None:
            # A full disk holds no answer back: the copy itself is durable.
            # What the next try needs stays until the end is durable, too.
            if error is not None:
                self._unwritten += tasks
            for task in tasks:
                if error is None:
                    _remove_notes(self._config.folder_of(task.uid), task.id)
                if task.id in self._ends:
                    self._ends.pop(task.id).set_result(None)
            if self._drained is not None and self.is_idle:
                self._drained()

        self.store.write(store.ended(tasks), durable)


def _remove_notes(folder: str, number: int) -> None:
    """Remove what a try of task ``number``, which has ended durably, noted for the next
    one: ``N.moved`` of moving.py and ``N.jsonl`` of copying.py."""
    for path in (note_path(folder, number), f"{folder}/{number}.jsonl"):
        with contextlib.suppress(OSError):
            os.unlink(path)


def _sweep_notes(users: str, wanted: Container[int]) -> None:
    """Remove the notes of all tasks but ``wanted``: an earlier service was killed too
    early, or a try, which may leave ``.N.moved.*.part``. ``users`` has a folder for
    each user, who may put anything into his own: nothing below is read."""
    for folder in os.listdir(users) if os.path.isdir(users) else ():
        with contextlib.suppress(OSError):
            for name in os.listdir(os.path.join(users, folder)):
                found = _NOTE.fullmatch(name)
                if found and int(found[1] or found[2]) not in wanted:
                    os.unlink(os.path.join(users, folder, name))
