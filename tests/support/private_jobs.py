"""A job that runs in a private folder, as a test starts it."""

from __future__ import annotations

import os
import subprocess
from typing import Any

from tests.support.job_lists import SCRATCH
from tests.support.run_site import NODE, Site

LARGE = b"large\n" * 100_000


class PrivateJob:
    """A job that reads big.dat and small.txt, and makes out.txt."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.scratch = site.scratch
        self.jobs = site.scratch / ".jobs"
        (self.scratch / "big.dat").write_bytes(LARGE)
        (self.scratch / "small.txt").write_text("small\n")
        (self.scratch / "other.txt").write_text("of another job\n")
        self.needs: dict[str, Any] = {
            "scratch": SCRATCH,
            "below": 65536,
            "inputs": ["big.dat", "small.txt"],
            "outputs": ["out.txt"],
        }

    def run(
        self, task: str, *, works_in: str = SCRATCH, **environ: str
    ) -> subprocess.CompletedProcess[bytes]:
        self.note()
        argv = self.argv(task, works_in)[1:]
        return self.site.start("launch", *argv, **environ)

    def begin(self, task: str) -> subprocess.Popen[bytes]:
        """In the background."""
        self.note()
        return self.site.begin("launch", *self.argv(task)[1:])

    def note(self, **more: Any) -> None:
        data = {"version": 2, "private": self.needs, **more}
        self.site.write(f"nodes/{NODE}.json", data)

    def argv(self, task: str, works_in: str = SCRATCH) -> list[str]:
        record = [self.site.program("record"), "-w", works_in]
        return [self.site.program("launch"), *record, "sh", "-e", "-c", task]

    def made(self, lfn: str = "out.txt") -> str:
        return (self.scratch / lfn).read_text()


def run_by_a_user(job: PrivateJob, task: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        job.argv(task, str(job.scratch)),
        env={"PATH": os.environ["PATH"], "PEGASUS_DAG_JOB_ID": NODE},
        user=1000,
        group=1000,
        extra_groups=[],
        cwd="/",
        capture_output=True,
        check=False,
    )
