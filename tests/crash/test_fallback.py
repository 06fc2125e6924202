"""Going to the PFS, killed anywhere: one word, and no program that thinks otherwise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pegasus_bb.runtime.gate import NONE, USE
from pegasus_bb.runtime.storage_decision import (
    DECISION_FILE,
    StorageDecision,
    read_decision,
)
from tests.runtime.lifecycle import NAME, Run
from tests.runtime.test_fallback import DIRECTIVE, place

from .planned import OfARun
from .sweep import Story, killed_at_calls, refused_at_calls

pytestmark = pytest.mark.usefixtures("may_trace")


class Fallback(OfARun):
    """A run with --bb-fallback pfs."""

    def plan(self, root: Path) -> Run:
        run = super().plan(root)
        run.request = replace(run.request, fallback="pfs")
        run.change()
        place(run)
        (run.submit / "bb" / USE).write_text(DIRECTIVE)
        return run

    def decided(self) -> str:
        """Whole, or not there."""
        found: StorageDecision | None = read_decision(self.planned.bb)
        return found.to if found else ""

    def directives(self) -> str:
        return (self.planned.submit / "bb" / USE).read_text()


class GoesToThePfs(Fallback):
    """The gate, after a refusal."""

    words = ("gate",)

    def before(self) -> None:
        self.planned.change(fail="create: no such project")
        self.earlier("setup")

    def check_left(self) -> None:
        assert self.decided() in ("", "pfs")
        assert self.directives() in (DIRECTIVE, NONE)
        assert self.directives() == DIRECTIVE or self.decided() == "pfs"
        assert not self.planned.folder().exists()
        self.word = self.decided() and self.planned.read(DECISION_FILE)

    def check_done(self) -> None:
        assert (self.decided(), self.directives()) == ("pfs", NONE)
        word = self.planned.read(DECISION_FILE)
        assert getattr(self, "word", "") in ("", word)  # what was said is not said anew
        assert "no such project" in word["because"]
        assert not self.planned.has("gate.json") and not self.planned.has("gate.err")


class StaysOnTheBuffer(Fallback):
    """The first job of the site."""

    words = ("launch", "/bin/sh", "-c", f"echo task > /bb/{NAME}/result")

    def before(self) -> None:
        self.earlier("setup", "gate")

    def check_left(self) -> None:
        assert self.decided() in ("", "bb")
        result = self.planned.folder() / "result"
        assert self.decided() == "bb" or not result.exists()

    def check_done(self) -> None:
        assert self.decided() == "bb"
        assert (self.planned.folder() / "result").read_text() == "task\n"
        assert not (self.planned.root / "pfs").exists()


class GivesBackWhatCameLate(Fallback):
    words = ("delete",)

    def before(self) -> None:
        self.planned.change(delay="1h", wait=0)
        self.earlier("setup", "gate")
        self.planned.change(delay="0")

    def check_left(self) -> None:
        assert self.decided() == "pfs"
        assert "released" not in self.ledger() or not self.planned.folder().exists()

    def check_done(self) -> None:
        assert not self.planned.folder().exists()
        assert self.ledger()[-1] == "released"
        [pool] = self.planned.backend().pools()
        assert pool.free == pool.total


STORIES = [GoesToThePfs, StaysOnTheBuffer, GivesBackWhatCameLate]


@pytest.mark.parametrize("story", STORIES)
def test_killed_anywhere_and_run_again(
    story: type[Story], room: Path, step: int
) -> None:
    killed_at_calls(story, room, step)


@pytest.mark.parametrize("story", STORIES)
def test_a_disk_that_is_full_or_fails_anywhere(
    story: type[Story], room: Path, step: int
) -> None:
    refused_at_calls(story, room, step)
