"""Jobs before the reservation (--bb-open), and the ways to what they have left, killed
anywhere: the scratch on the PFS is this run's, and nothing is asked of the tier."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.runtime.scratch_root import MARK
from tests.runtime.conftest import NODE
from tests.runtime.job_lists import SCRATCH, folder
from tests.runtime.test_prior import go_before, leave

from .jobs import SharedJob
from .sweep import Story, killed_at_calls, no_parts_below, refused_at_calls
from .test_transfer import JobList

pytestmark = pytest.mark.usefixtures("may_trace")
ERRORS = (errno.ENOSPC, errno.EIO, errno.EDQUOT)


class PriorJob(SharedJob):
    """It makes the run's folder on the PFS itself, and works there."""

    reserved = False

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        site = self.site
        (site.pfs / "in").write_text("made\n")
        go_before(site, NODE)
        site.place({"in.txt": "pfs copy", "sub/a.txt": "pfs write"})

    @property
    def task(self) -> str:
        return f"cat {self.site.pfs}/in > part; mv part sub/a.txt"

    def check_left(self) -> None:
        """No file is in a folder that nobody would know for this run's."""
        made = self.site.pfs_scratch / "sub/a.txt"
        assert not made.exists() or made.read_text() == "made\n"
        files = [p for p in self.site.pfs_scratch.rglob("*") if p.is_file()]
        if files:
            assert MARK in {p.name for p in files}
        assert list(self.site.fast.iterdir()) == []
        assert self.ledger() == []

    def check_done(self) -> None:
        self.check_left()
        assert (self.site.pfs_scratch / "sub/a.txt").read_text() == "made\n"
        assert (self.site.pfs_scratch / MARK).read_text() == "run-1\n"
        assert list((self.site.bb / "running").iterdir()) == []


class WaysToThePfs(JobList):
    """create_dir, on the tier: what jobs before it have left is found there."""

    left = ("sub/a.txt", "b.txt")

    def given(self) -> list[dict[str, Any]]:
        site = self.site
        site.scratch.rmdir()
        leave(site, *self.left)
        go_before(site, "other")
        (site.pfs_scratch / "sub").mkdir(parents=True)
        (site.pfs_scratch / MARK).write_text("run-1\n")
        for lfn in self.left:
            (site.pfs_scratch / lfn).write_text(lfn)
        return [folder("mkdir", SCRATCH)]

    def check_left(self) -> None:
        for lfn in self.left:
            assert (self.site.pfs_scratch / lfn).read_text() == lfn
            way = self.site.scratch / lfn
            assert not way.is_symlink() or way.read_text() == lfn

    def check_done(self) -> None:
        self.check_left()
        assert all((self.site.scratch / lfn).is_symlink() for lfn in self.left)
        for made in (self.site.scratch, self.site.pfs_scratch):
            assert (made / MARK).read_text() == "run-1\n"
        no_parts_below(self.site.scratch, self.site.pfs)


STORIES = [PriorJob, WaysToThePfs]


@pytest.mark.parametrize("story", STORIES)
def test_killed_anywhere_and_run_again(
    story: type[Story], room: Path, step: int
) -> None:
    killed_at_calls(story, room, step)


@pytest.mark.parametrize("story", STORIES)
def test_a_disk_that_is_full_or_fails_anywhere(
    story: type[Story], room: Path, step: int
) -> None:
    refused_at_calls(story, room, step, ERRORS)
