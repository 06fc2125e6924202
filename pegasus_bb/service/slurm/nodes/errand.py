"""An order as the service of a node carries it out."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterator, List

from pegasus_bb.files import read_json, sync_directory, write_json
from pegasus_bb.service.slurm.job import Job


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


class Errands:
    """A file for each. Methods raise OSError."""

    def __init__(self, folder: str) -> None:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._folder = folder

    def read(self) -> Iterator[Errand]:
        """Those of an earlier service. Raises ValueError as well."""
        for name in sorted(os.listdir(self._folder)):
            if name.endswith(".json"):
                data = read_json(os.path.join(self._folder, name))
                errand = Errand(data["folder"], data["number"], 0, 0)
                errand.__dict__.update(data)
                yield errand

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
