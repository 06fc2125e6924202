"""An order as the service of a node carries it out."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterator, List

from pegasus_bb.files import sync_directory, write_json
from pegasus_bb.service.slurm.job import LISTS, Job
from pegasus_bb.service.slurm.stored import read_record, record_names


class Errand(Job):
    """The latest order about a job's folder on this node; ``tasks`` are the copies of
    all orders about it, so none is done twice."""

    def __init__(self, folder: str, job: int, uid: int, gid: int) -> None:
        super().__init__(job, uid, gid)
        self.folder, self.order = folder, 0  # 0: none yet
        self.answer: Dict[str, Any] = {}  # empty: it is under way

    def answered(self, why: List[str], found: Dict[str, Any]) -> None:
        """It is over: why not all is done, or what was found."""
        self.answer = {"why": why, "found": found}


def read_errand(path: str) -> Errand:
    """What is in a record. Raises OSError, UsageError."""
    like = {**Errand("", 0, 0, 0).as_json(), **LISTS}
    data = read_record(path, like, ("folder", "number", "uid", "gid", "order"))
    errand = Errand(data["folder"], data["number"], data["uid"], data["gid"])
    errand.__dict__.update(data)
    return errand


class Errands:
    """A file for each. Methods raise OSError."""

    def __init__(self, folder: str) -> None:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._folder = folder

    def read(self) -> Iterator[Errand]:
        """Those of an earlier service. Raises UsageError as well."""
        return map(read_errand, record_names(self._folder))

    def save(self, errand: Job) -> None:
        """Durable when this returns."""
        write_json(self._path(errand.folder), errand.as_json())

    def remove(self, folder: str) -> None:
        """Absent is fine."""
        try:
            os.unlink(self._path(folder))
        except FileNotFoundError:
            return
        sync_directory(self._folder)

    def _path(self, folder: str) -> str:
        return os.path.join(self._folder, f"{folder}.json")
