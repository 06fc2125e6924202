"""The service of one node: does the orders in its box, and answers them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from pegasus_bb.core.errors import PegasusBBError, UsageError
from pegasus_bb.stager.messages import complain, message_of
from pegasus_bb.stager.nodes.contents import Files
from pegasus_bb.stager.nodes.mailbox import (
    ANSWERS,
    ORDERS,
    Letter,
    NodeBox,
    check_mailbox,
)
from pegasus_bb.stager.nodes.orders import GONE, IN, LIST
from pegasus_bb.stager.programs import ask
from pegasus_bb.stager.service import Service
from pegasus_bb.stager.slurm.directives import NODE, is_on_node
from pegasus_bb.stager.slurm.job import SlurmJob
from pegasus_bb.stager.slurm.job_copies import JobCopies
from pegasus_bb.stager.slurm.job_storage import in_dataspace
from pegasus_bb.stager.slurm.slurm_config import SPACE, GranulePool, NodesConfig
from pegasus_bb.stager.slurm.space_folders import Trash, make_folder
from pegasus_bb.stager.store import Records
from pegasus_bb.stager.worker_pool import ENVIRON, program_of

_BEAT = 10.0  # seconds between two signs of life

Order = dict[str, Any]


class NodeJob(SlurmJob):
    """``order``: the number of the latest order about its folder on this node; 0: none
    yet. ``tasks`` are the copies of all orders, so none is done twice."""

    def __init__(
        self, folder: str = "", job: int = 0, uid: int = 0, gid: int = 0
    ) -> None:
        super().__init__(job, uid, gid)
        self.folder, self.order = folder, 0
        self.answer: dict[str, Any] = {}  # empty: it is under way

    @property
    def key(self) -> str:
        """That of its folder."""
        return self.folder


class NodeAttendant:
    """Runs in the event loop of the node's service. A letter stays in the box until
    all that it asks for is durable, and its answer, too."""

    def __init__(
        self, config: NodesConfig, service: Service, loop: asyncio.AbstractEventLoop
    ) -> None:
        """Goes on where an earlier one has stopped. Raises OSError, UsageError."""
        self._config, self._spaces, self._loop = config, service.spaces, loop
        self._pool = GranulePool(SPACE, config.path, 0, 0)
        self._lists = Lists(config.path)
        check_mailbox(config.mailbox)
        self._box = NodeBox(config.mailbox, config.name)
        self._box.open()
        self._box.sweep_answers()
        self._trash = Trash(loop, [self._pool], service.discards.freed)
        self._jobs = Records(service.store, NodeJob)
        self._transfers = JobCopies(service, self._jobs)
        self._under_way: dict[str, int] = {}  # number of the order by folder
        self._beaten, self._complaint = -_BEAT, ""
        self._timer = loop.call_soon(self._tick)

    def close(self) -> None:
        """Do no order any more; all are in the box."""
        self._timer.cancel()
        self._box.end()

    def _tick(self) -> None:
        self._timer = self._loop.call_later(self._config.poll, self._tick)
        try:
            if self._loop.time() - self._beaten >= _BEAT:
                self._box.beat()
                self._beaten = self._loop.time()
            letters = self._box.letters(ORDERS)
        except OSError as error:  # it may come back
            self._complain(message_of(error))
            return
        for letter in letters:
            self._take(letter)

    def _take(self, letter: Letter) -> None:
        """Act on a letter; one that cannot be done now stays for the next look."""
        try:
            job = self._jobs.get(letter.folder)
            if job is not None and letter.number < job.order:
                letter.drop()
            elif job is not None and letter.number == job.order and job.answer:
                self._answer(job, letter)
            elif self._under_way.get(letter.folder) != letter.number:
                self._begin(letter, letter.read())
        except (ValueError, KeyError, TypeError) as error:
            self._complain(f"{letter.path}: no service of ours wrote it: {error!r}")
            letter.drop()
        except (OSError, PegasusBBError) as error:
            self._complain(message_of(error))

    def _begin(self, letter: Letter, order: Order) -> None:
        job = self._jobs.get(letter.folder)
        if job is None:
            job = NodeJob(letter.folder, order["job"], order["uid"], order["gid"])
        if order["want"] == GONE:
            self._remove(job, letter)
            return
        if letter.number != job.order:
            self._transfers.cancel(job)
            job.order, job.answer = letter.number, {}
            job.exit_code = order["exit_code"]
            self._jobs.save(job)
        self._under_way[letter.folder] = letter.number
        try:
            self._do(job, letter, order)
        except (OSError, PegasusBBError) as error:
            self._over(job, letter, [message_of(error)])

    def _do(self, job: NodeJob, letter: Letter, order: Order) -> None:
        if order["root"] != self._config.path:
            raise UsageError(
                f"the folder of jobs is {self._config.path} here, and {order['root']} "
                "for the service of Slurm's host"
            )
        if order["want"] == IN:
            make_folder(self._pool, job.folder, job.uid, job.gid)
        elif order["want"] == LIST:
            sources = [source for source, _ in order["copies"]]
            self._listing = self._loop.create_task(self._list(job, letter, sources))
            return
        places = [
            (self._place(job, source), self._place(job, dest))
            for source, dest in order["copies"]
        ]

        def ended(why: list[str], later: str) -> None:
            if not later:
                self._over(job, letter, why)
                return
            # The service takes no task now: the letter stays for the next look.
            if self._under_way.get(letter.folder) == letter.number:
                del self._under_way[letter.folder]
            self._complain(later)

        self._transfers.copy(job, places, order["deadline"], ended)

    async def _list(self, job: NodeJob, letter: Letter, sources: list[str]) -> None:
        """All that is there is read."""
        try:
            by_place = {self._place(job, source): source for source in sources}
            listed = await self._lists.of(job.uid, list(by_place))
        except (OSError, ValueError, PegasusBBError) as error:
            self._over(job, letter, [message_of(error)])
        else:
            found = {by_place[place]: files for place, files in listed.items()}
            self._over(job, letter, [], found)

    def _over(
        self, job: NodeJob, letter: Letter, why: list[str], found: Any = None
    ) -> None:
        """The record first, then the answer; the order goes last."""
        if self._under_way.get(job.folder) != letter.number:
            return  # a later order counts
        del self._under_way[job.folder]
        job.answer = {"why": why, "found": found or {}}
        try:
            self._jobs.save(job)
            self._answer(job, letter)
        except OSError as error:  # the letter stays: the next look tries again
            self._complain(message_of(error))

    def _complain(self, what: str) -> None:
        """Once: the next look finds the same."""
        if what != self._complaint:
            complain(what)
            self._complaint = what

    def _answer(self, job: NodeJob, letter: Letter) -> None:
        self._box.post(ANSWERS, job.folder, letter.number, job.answer)
        letter.drop()

    def _remove(self, job: NodeJob, letter: Letter) -> None:
        """No answer: the head forgets a job as soon as this order is written."""
        self._transfers.cancel(job)
        self._under_way.pop(job.folder, None)
        self._trash.drop(self._pool, job.folder, lambda: None)
        for other in [*self._box.letters(ANSWERS), *self._box.letters(ORDERS)]:
            if other.folder == job.folder and other.number < letter.number:
                other.drop()  # else the next look would begin it again
        self._jobs.remove(job)
        letter.drop()

    def _place(self, job: NodeJob, word: str) -> str:
        """Return a place of this node's service. Raises Refused."""
        if is_on_node(word):
            return f"{NODE}{job.folder}/{word[len(NODE) :]}"
        return in_dataspace(word, self._spaces)


class Lists:
    """Lists of what jobs have left on this node (contents.py), one of a user at a time:
    a list is a process of the user, and another process of his may stop it.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._turns: dict[int, asyncio.Lock] = {}  # by user

    async def of(self, uid: int, sources: Sequence[str]) -> dict[str, Files]:
        """Return the files below each ``node://`` place of ``sources`` that is there.

        Raises OSError where they cannot be read.
        """
        argv = program_of("nodes.contents", str(uid), self._root)
        async with self._turns.setdefault(uid, asyncio.Lock()):
            done = await ask(argv, ENVIRON, json.dumps(list(sources)))
        if done.status != 0:
            last = (done.err.strip().splitlines() or ["no reason is known"])[-1]
            raise OSError(0, last, self._root)
        found: dict[str, Files] = json.loads(done.out)
        return found
