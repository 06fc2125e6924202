"""What the service of Slurm's host knows of a job's folders on nodes, durably."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

from pegasus_bb.core.files import sync_directory, write_json
from pegasus_bb.stager.slurm.job import SlurmJob
from pegasus_bb.stager.slurm.stored import known, read_record, record_names

# what nodes are asked for
IN = "in"
LIST = "list"
OUT = "out"
GONE = "gone"


class NodesRecord:
    """One job's. Each order has a number of its own, for all nodes together."""

    def __init__(self, job: SlurmJob) -> None:
        self.folder, self.job = job.node_folder, job.number
        self.uid, self.gid, self.exit_code = job.uid, job.gid, 0
        self.want, self.number = GONE, 0
        self.hosts: list[str] = []  # the job's nodes
        self.nodes: list[str] = []  # that have the folder, or may have
        self.token = ""  # of the pre_run that waits for an answer
        self.begun = self.deadline = 0.0  # time.time(); deadline: of the stage-in
        self.results: list[list[str]] = []  # all copies of the stage-out
        self.todo: dict[str, list[list[str]]] = {}  # copies by node: the latest order
        self.answers: dict[str, dict[str, Any]] = {}  # to it, by node

    def ask(self, want: str, todo: dict[str, list[list[str]]]) -> None:
        """A new order, for the nodes in ``todo``."""
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
        said = {n: self.answers.get(n, {}).get("why", []) for n in self.todo}
        return {node: why for node, why in said.items() if why}

    @property
    def sentences(self) -> list[str]:
        """``failures``, for people."""
        return [f"{node}: {w}" for node, why in self.failures.items() for w in why]

    def order(self, node: str, root: str) -> dict[str, Any]:
        """The letter to ``node``, whose folder of all jobs should be ``root``."""
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


def read_nodes_record(path: str) -> NodesRecord:
    """What is in a record. Raises OSError, UsageError."""
    lists = {"hosts": [""], "nodes": [""], "results": [[""]]}
    like = {**NodesRecord(SlurmJob(0, 0, 0)).__dict__, **lists}
    data = read_record(path, like, ("job", "uid", "gid", "folder", "want"))
    record = NodesRecord(SlurmJob(data["job"], data["uid"], data["gid"]))
    record.__dict__.update(known(data, like))
    return record


class Records:
    """A file for each. Methods raise OSError."""

    def __init__(self, folder: str) -> None:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._folder = folder

    def read(self) -> Iterator[NodesRecord]:
        """Those of an earlier service. Raises UsageError as well."""
        return map(read_nodes_record, record_names(self._folder))

    def save(self, record: NodesRecord) -> None:
        """Durable when this returns."""
        write_json(self._path(record), record.__dict__)

    def remove(self, record: NodesRecord) -> None:
        """Absent is fine."""
        try:
            os.unlink(self._path(record))
        except FileNotFoundError:
            return
        sync_directory(self._folder)

    def _path(self, record: NodesRecord) -> str:
        return os.path.join(self._folder, f"{record.folder}.json")
