"""What the service of Slurm's host knows of a job's folders on nodes, durably, and the
letters that it writes about them."""

from __future__ import annotations

import time
from typing import Any

from pegasus_bb.core.units import abbreviate, format_duration
from pegasus_bb.stager.messages import message_of
from pegasus_bb.stager.nodes.mailbox import ANSWERS, ORDERS, Mailbox
from pegasus_bb.stager.slurm.job import SlurmJob
from pegasus_bb.stager.slurm.records import Record
from pegasus_bb.stager.slurm.slurm_config import NodesConfig

_QUIET = 30.0  # seconds without a sign of life that are worth a word
# what nodes are asked for
IN = "in"
LIST = "list"
OUT = "out"
GONE = "gone"


class NodesRecord(Record):
    """One job's. Each order has a number of its own, for all nodes together."""

    def __init__(self, job: SlurmJob | None = None) -> None:
        job = job or SlurmJob()
        self.folder, self.job = job.life, job.number
        self.uid, self.gid, self.exit_code = job.uid, job.gid, 0
        self.want, self.number = GONE, 0
        self.hosts: list[str] = []  # the job's nodes
        self.nodes: list[str] = []  # that have the folder, or may have
        self.token = ""  # of the pre_run that waits for an answer
        self.begun = self.deadline = 0.0  # time.time(); deadline: of the stage-in
        self.results: list[list[str]] = []  # all copies of the stage-out
        self.todo: dict[str, list[list[str]]] = {}  # copies by node: the latest order
        self.answers: dict[str, dict[str, Any]] = {}  # to it, by node

    @property
    def name(self) -> str:
        """That of the job's folder."""
        return self.folder

    def ask(self, want: str, todo: dict[str, list[list[str]]]) -> None:
        """Begin a new order, for the nodes in ``todo``."""
        self.want, self.todo, self.answers = want, todo, {}
        self.begun = time.time()
        # By the clock: a node must never take it for one that it has done before.
        self.number = max(self.number + 1, int(self.begun * 1000))

    @property
    def silent(self) -> list[str]:
        """The nodes whose answer is not there yet."""
        return [node for node in self.todo if node not in self.answers]

    @property
    def failures(self) -> dict[str, list[str]]:
        """What nodes could not do."""
        why = {node: self.answers.get(node, {}).get("why") for node in self.todo}
        return {node: each for node, each in why.items() if each}

    @property
    def sentences(self) -> list[str]:
        """``failures``, for people."""
        return [f"{node}: {w}" for node, why in self.failures.items() for w in why]

    def order(self, node: str, root: str) -> dict[str, Any]:
        """Return the letter to ``node``; ``root`` is its folder of all jobs."""
        return {
            "want": self.want,
            "root": root,
            "job": self.job,
            "uid": self.uid,
            "gid": self.gid,
            "exit_code": self.exit_code,
            "deadline": self.deadline if self.want == IN else None,
            "copies": self.todo[node],
        }


class Orders:
    """An order is written once by each service: twice does no harm."""

    def __init__(self, config: NodesConfig) -> None:
        """Raises OSError, UsageError."""
        self._root, self._mailbox = config.path, Mailbox(config.mailbox)
        self._posted: set[tuple[str, int, str]] = set()
        self._trouble: dict[str, str] = {}  # with the letters of a node

    def send(self, record: NodesRecord) -> bool:
        """Write the order's letters that are not there; whether all of them are."""
        for node in record.silent:
            key = (record.folder, record.number, node)
            if key in self._posted:
                continue
            try:
                self._mailbox.open(node)
                order = record.order(node, self._root)
                self._mailbox.post(node, ORDERS, record.folder, record.number, order)
            except OSError as error:
                self._trouble[node] = message_of(error)
                return False
            self._posted.add(key)
        return True

    def collect(self, record: NodesRecord) -> list[str]:
        """Answers that were not there before go into ``record``; the nodes that gave
        them. Their letters stay until ``acknowledge``."""
        new = []
        for node in record.silent:
            try:
                for letter in self._mailbox.letters(node, ANSWERS):
                    if (letter.folder, letter.number) == (record.folder, record.number):
                        record.answers[node] = letter.read()
                        new.append(node)
                self._trouble.pop(node, None)
            except (OSError, ValueError) as error:
                self._trouble[node] = str(error)
        return new

    def acknowledge(self, record: NodesRecord, nodes: list[str]) -> None:
        """Remove the answers of ``nodes``, and older ones about the folder."""
        for node in nodes:
            try:
                for letter in self._mailbox.letters(node, ANSWERS):
                    if letter.folder == record.folder:
                        letter.drop()
            except OSError as error:
                self._trouble[node] = str(error)

    def forget(self, record: NodesRecord) -> None:
        """Forget an order: all about its folder is over."""
        self._posted = {key for key in self._posted if key[0] != record.folder}

    def state_of(self, node: str) -> str:
        """Return why there is no answer of ``node``, as far as is known."""
        silence = self._mailbox.silence(node)
        if node in self._trouble:
            return self._trouble[node]
        if silence is None:
            return "its service does not run"
        if silence > _QUIET:
            return f"no sign of life for {format_duration(silence)}"
        return "its service is at work"

    def silence_of(self, record: NodesRecord) -> str:
        """Return which nodes have not answered, and why."""
        return abbreviate([f"{n} ({self.state_of(n)})" for n in record.silent])
