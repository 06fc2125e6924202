"""A job as the service of one of its nodes knows it."""

from __future__ import annotations

from typing import Any, ClassVar

from pegasus_bb.stager.slurm.job import SlurmJob


class NodeJob(SlurmJob):
    """``order``: the number of the latest order about its folder on this node; 0: none
    yet. ``tasks`` are the copies of all orders, so none is done twice."""

    NEEDED: ClassVar[tuple[str, ...]] = ("folder", "number", "uid", "gid", "order")

    def __init__(
        self, folder: str = "", job: int = 0, uid: int = 0, gid: int = 0
    ) -> None:
        super().__init__(job, uid, gid)
        self.folder, self.order = folder, 0
        self.answer: dict[str, Any] = {}  # empty: it is under way

    @property
    def file_name(self) -> str:
        """That of its folder."""
        return self.folder
