"""A job, killed anywhere: what it made is whole where it belongs, or not there."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from .jobs import SharedJob
from .sweep import Story, killed_at_calls, no_parts_below, refused_at_calls

pytestmark = pytest.mark.usefixtures("may_trace")
MADE = "input\ninput\n"


class Job(SharedJob):
    """A task that reads one link, and puts a file in the place of another."""

    task = "cat in.txt in.txt > tmp; mv tmp out.txt"

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        site = self.site
        self.input, self.home = site.pfs / "in.txt", site.pfs_scratch / "out.txt"
        self.input.write_text("input\n")
        site.place({"in.txt": "pfs link", "out.txt": "pfs write"})
        site.link({"in.txt": str(self.input), "out.txt": str(self.home)})

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


class JobWithAFolder(Job):
    """Its result is a folder."""

    task = "rm -rf tmp; mkdir tmp; cat in.txt in.txt > tmp/f; rm -rf out.txt; mv tmp out.txt"  # noqa: E501

    def made(self) -> str:
        return (self.home / "f").read_text()


@pytest.mark.parametrize("story", [Job, JobWithAFolder])
def test_killed_anywhere_and_run_again(
    story: type[Story], room: Path, step: int
) -> None:
    killed_at_calls(story, room, step)


def test_a_disk_that_is_full_or_fails_anywhere(room: Path, step: int) -> None:
    refused_at_calls(Job, room, step, (errno.ENOSPC, errno.EIO, errno.EDQUOT))
