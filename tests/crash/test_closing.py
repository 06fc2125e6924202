"""Copies for jobs that run when the reservation is gone (--bb-close), killed anywhere:
who finds the note that they are made finds them whole, and without it nothing is given
back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.errors import DATA_NOT_SAFE
from pegasus_bb.runtime.guard import Promises, unsafe_results
from tests.runtime.conftest import NODE
from tests.runtime.shared_site import SharedSite

from .jobs import SharedJob
from .sweep import Story, killed_at_calls, no_parts_below, refused_at_calls
from .test_lifecycle import DeleteTooEarly
from .test_room import ERRORS, SharingJob, noted
from .test_transfer import StageOut

pytestmark = pytest.mark.usefixtures("may_trace")
MADE, OLDER = "input\ninput\n", "of an older try\n"
BOTH = ["a.txt", "folder"]


class CarryingJob(SharedJob):
    """A file and a folder are read beyond the cut; an older try was killed when it had
    copied both, before it could say so."""

    task = "cat in.txt in.txt > a.txt; rm -rf folder; mkdir folder; cp a.txt folder/new"

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        site = self.site
        (site.scratch / "in.txt").write_text("input\n")
        copies = {lfn: str(site.pfs_scratch / lfn) for lfn in BOTH}
        (site.bb / "carry").mkdir()
        (site.bb / f"carry/{NODE}.json").write_text(json.dumps(copies))
        (site.bb / "plan.json").write_text('{"scratch": "/bb/pbb4f1c2a9e/run0001"}')
        (site.pfs_scratch / "folder").mkdir(parents=True)
        for name in ("a.txt", "folder/old", ".a.txt.123.abcdef.part"):
            (site.pfs_scratch / name).write_text(OLDER)

    def check_left(self) -> None:
        copy, folder = (self.site.pfs_scratch / lfn for lfn in BOTH)
        assert (self.site.scratch / "in.txt").read_text() == "input\n"
        assert copy.read_text() in (OLDER, MADE)
        if folder.exists():
            assert contents(folder) in ({"old": OLDER}, {"new": MADE})
        unsafe = unsafe_results(self.site.bbdir, self.site.request.uuid, False)
        if self.site.bbdir.has_carried(NODE):
            assert (copy.read_text(), contents(folder)) == (MADE, {"new": MADE})
            assert list(unsafe) == []
        else:
            assert [each.lfn for each in unsafe] == BOTH

    def check_done(self) -> None:
        assert self.site.bbdir.has_carried(NODE)
        self.check_left()
        no_parts_below(self.site.scratch, self.site.pfs)


def contents(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in folder.iterdir()}


class CarryingJobWithARoom(SharingJob):
    """Mode hybrid: the copy is made from the room, before its results are noted."""

    def planned(self, root: Path) -> SharedSite:
        there = super().planned(root)
        (there.bb / "carry").mkdir()
        self.copy = there.scratch / "shared.txt"
        there.write(f"carry/{NODE}.json", {"shared.txt": str(self.copy)})
        return there

    def check_left(self) -> None:
        super().check_left()
        if self.copy.exists():
            assert self.copy.read_text() == "input\n"
        carried = self.site.bbdir.has_carried(NODE)
        assert carried or not noted(self.site)
        assert self.copy.exists() or not carried

    def check_done(self) -> None:
        super().check_done()
        assert self.site.bbdir.has_carried(NODE)
        no_parts_below(self.site.scratch)


class StageOutBeyond(StageOut):
    """Of results that jobs beyond the cut have made: the reservation is gone."""

    def given(self) -> list[dict[str, Any]]:
        jobs, site = super().given(), self.site
        site.pfs_scratch.parent.mkdir()
        site.scratch.rename(site.pfs_scratch)
        shutil.rmtree(site.real)
        site.scratch = site.pfs_scratch
        (site.bb / "beyond").write_text(f"{NODE}\n")
        placed = json.loads((site.bb / "placement.json").read_text())
        placed = {**placed, "later": placed["outputs"], "outputs": {}}
        (site.bb / "placement.json").write_text(json.dumps(placed))
        return jobs

    def check_done(self) -> None:
        super().check_done()
        why = Promises(self.site.bbdir)
        assert [why(str(job["lfn"])) for job in self.jobs] == [""] * len(self.jobs)


class DeleteBeforeACopy(DeleteTooEarly):
    """All results are safe, but what a later job reads is on the reservation alone."""

    def before(self) -> None:
        super(DeleteTooEarly, self).before()
        carry = self.planned.submit / "bb" / "carry"
        carry.mkdir()
        (carry / f"{NODE}.json").write_text('{"mid.txt": "/pfs/mid.txt"}')


JOBS = [CarryingJob, CarryingJobWithARoom, StageOutBeyond]


@pytest.mark.parametrize("story", JOBS)
def test_killed_anywhere_and_run_again(
    story: type[Story], room: Path, step: int
) -> None:
    killed_at_calls(story, room, step)


@pytest.mark.parametrize("story", JOBS)
def test_a_disk_that_is_full_or_fails_anywhere(
    story: type[Story], room: Path, step: int
) -> None:
    refused_at_calls(story, room, step, ERRORS)


def test_giving_back_before_a_copy_is_made_changes_nothing_at_all(room: Path) -> None:
    told = DeleteBeforeACopy(room / "run")
    done = told.run()
    assert (done.status, done.calls) == (DATA_NOT_SAFE, [])
    assert "mid.txt" in done.said
    told.check_left()
