"""A job as the service of one of its nodes knows it, one JSON file each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from pegasus_bb.core.files import sync_directory, write_json
from pegasus_bb.stager.slurm.job import LISTS, SlurmJob
from pegasus_bb.stager.slurm.stored import known, read_record, record_names


class NodeJob(SlurmJob):
    """``order``: the number of the latest order about its folder on this node; 0: none
    yet. ``tasks`` are the copies of all orders, so none is done twice."""

    def __init__(self, folder: str, job: int, uid: int, gid: int) -> None:
        super().__init__(job, uid, gid)
        self.folder, self.order = folder, 0
        self.answer: dict[str, Any] = {}  # empty: it is under way

    def answered(self, why: list[str], found: dict[str, Any]) -> None:
        """The order is done: why not all of it, or what was found."""
        self.answer = {"why": why, "found": found}


def read_node_job(path: str) -> NodeJob:
    """What is in a record. Raises OSError, UsageError."""
    like = {**NodeJob("", 0, 0, 0).as_json(), **LISTS}
    data = read_record(path, like, ("folder", "number", "uid", "gid", "order"))
    job = NodeJob(data["folder"], data["number"], data["uid"], data["gid"])
    job.__dict__.update(known(data, like))
    return job


class NodeJobs:
    """A file for each. Methods raise OSError."""

    def __init__(self, folder: str) -> None:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._folder = folder

    def read(self) -> Iterator[NodeJob]:
        """Those of an earlier service. Raises UsageError as well."""
        return map(read_node_job, record_names(self._folder))

    def save(self, job: SlurmJob) -> None:
        """Durable when this returns."""
        write_json(self._path(job.folder), job.as_json())

    def remove(self, folder: str) -> None:
        """Absent is fine."""
        try:
            os.unlink(self._path(folder))
        except FileNotFoundError:
            return
        sync_directory(self._folder)

    def _path(self, folder: str) -> str:
        return os.path.join(self._folder, f"{folder}.json")
