"""A task of a run whose jobs share one reservation, as its submit file starts it."""

from __future__ import annotations

from pathlib import Path

from tests.runtime.conftest import NODE, Site
from tests.runtime.job_lists import SCRATCH

from .sweep import Story


class SharedJob(Story):
    """``launch record TASK``, in the run's scratch."""

    reserved = True

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.site = Site(root, self.reserved)
        self.install(self.site.bb)

    @property
    def task(self) -> str:
        """A line of sh."""
        raise NotImplementedError

    @property
    def argv(self) -> list[str]:
        record = [self.site.program("record"), "-w", SCRATCH]
        task = ["/bin/sh", "-e", "-c", self.task]
        return [self.site.program("launch"), *record, *task]

    @property
    def environ(self) -> dict[str, str]:
        number = {"PEGASUS_DAG_JOB_ID": NODE, "SLURM_JOB_ID": "1"}
        return {**super().environ, "PATH": "/usr/bin:/bin", **number}
