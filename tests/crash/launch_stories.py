"""A task of a run whose jobs share one reservation, as its submit file starts it."""

from __future__ import annotations

import errno
from pathlib import Path

from tests.support.forked import install_programs
from tests.support.job_lists import SCRATCH
from tests.support.run_site import NODE, Site

from .sweep import Story, no_parts_below

MADE = "input\ninput\n"


class Job(Story):
    """A task that reads one link, and puts a file in the place of another."""

    task = "cat in.txt in.txt > tmp; mv tmp out.txt"
    errors = (errno.ENOSPC, errno.EIO, errno.EDQUOT)

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.site = site = Site(root)
        install_programs(site.bb)
        self.input, self.home = site.pfs / "in.txt", site.pfs_scratch / "out.txt"
        self.input.write_text("input\n")
        site.place({"in.txt": "pfs link", "out.txt": "pfs write"})
        site.link({"in.txt": str(self.input), "out.txt": str(self.home)})

    @property
    def argv(self) -> list[str]:
        record = [self.site.program("record"), "-w", SCRATCH]
        task = ["/bin/sh", "-e", "-c", self.task]
        return [self.site.program("launch"), *record, *task]

    @property
    def environ(self) -> dict[str, str]:
        number = {"PEGASUS_DAG_JOB_ID": NODE, "SLURM_JOB_ID": "1"}
        return {**super().environ, "PATH": "/usr/bin:/bin", **number}

    def made(self) -> str:
        return self.home.read_text()

    def check_left(self) -> None:
        assert self.input.read_text() == "input\n"
        if self.home.exists():
            assert self.made() == MADE

    def check_done(self) -> None:
        self.check_left()
        assert self.made() == MADE
        assert (self.site.scratch / "out.txt").readlink() == self.home
        notes = (self.site.bb / "running").iterdir()
        assert [note.read_text() for note in notes] == [self.environ["SLURM_JOB_ID"]]
        no_parts_below(self.site.scratch, self.site.pfs)


class PrivateJob(Job):
    """It has a folder of its own: a link, a copy, a checkpoint and two outputs."""

    task = (
        "cat big.dat > tmp; mv big.dat gone; cat in.txt in.txt > out.txt; "
        "echo 1 > sub/x; echo saved > saved.txt"
    )

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        scratch = self.site.scratch
        (scratch / "big.dat").write_text("large\n" * 100)
        (scratch / "in.txt").write_text("input\n")
        self.home = scratch / "out.txt"
        private = {
            "scratch": SCRATCH,
            "below": 10,
            "inputs": ["big.dat", "in.txt"],
            "outputs": ["out.txt", "sub/x"],
            "checkpoints": ["saved.txt"],
            "read": ["out.txt"],
        }
        (scratch / "sub").mkdir()
        self.site.write(f"nodes/{NODE}.json", {"version": 2, "private": private})

    def check_left(self) -> None:
        super().check_left()
        assert (self.site.scratch / "big.dat").read_text() == "large\n" * 100

    def check_done(self) -> None:
        self.check_left()
        assert self.made() == MADE
        left = sorted(str(p.relative_to(self.site.scratch)) for p in self.files())
        assert left == ["big.dat", "in.txt", "out.txt", "saved.txt", "sub/x"]
        assert list((self.site.scratch / ".jobs").iterdir()) == []

    def files(self) -> list[Path]:
        return [p for p in self.site.scratch.rglob("*") if p.is_file()]
