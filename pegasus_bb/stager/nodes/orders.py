"""What the service of Slurm's host knows of a job's folders on nodes, durably."""

from __future__ import annotations

import time
from typing import Any

from pegasus_bb.stager.slurm.job import SlurmJob
from pegasus_bb.stager.store import Record

# what nodes are asked for
IN = "in"
LIST = "list"
OUT = "out"
GONE = "gone"


class NodesRecord(Record):
    """What nodes are asked to do for one job. Each order has a number of its own, for
    all nodes together."""

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
    def key(self) -> str:
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
