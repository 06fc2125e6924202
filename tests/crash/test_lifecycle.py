"""setup, gate, delete, killed anywhere: nothing is held unlisted, nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pegasus_bb.errors import DATA_NOT_SAFE
from pegasus_bb.model.reservation import State
from tests.runtime.lifecycle import NAME, kept

from .planned import OfARun
from .sweep import Story, killed_at_calls, refused_at_calls

pytestmark = pytest.mark.usefixtures("may_trace")


class Lifecycle(OfARun):
    """A run whose reservation is on a directory tier."""

    def check_left(self) -> None:
        """Listed before it exists, and every note is whole."""
        rows = [row.name for row in self.planned.backend().look([]).rows]
        there = self.planned.folder().exists()
        assert rows == ([NAME] if there else [])
        if there:
            warned = "is not on the list of your reservations" in self.traced.said
            assert "requested" in self.ledger() or warned
            assert self.planned.noted().name == NAME
        for name in ("reservation.json", "gate.json", "ready.json"):
            if self.planned.has(name):
                assert json.loads((self.planned.submit / "bb" / name).read_text())


class Setup(Lifecycle):
    words = ("setup",)

    def check_done(self) -> None:
        assert [row.name for row in self.planned.backend().look([]).rows] == [NAME]
        self.earlier("gate")


class Gate(Lifecycle):
    words = ("gate",)

    def before(self) -> None:
        self.earlier("setup")

    def check_done(self) -> None:
        noted = self.planned.noted().requested_at
        assert self.planned.read("ready.json")["requested_at"] == noted
        assert not self.planned.has("gate.json") and not self.planned.has("gate.err")


class Delete(Lifecycle):
    """All results are safe."""

    words = ("delete",)

    def before(self) -> None:
        self.earlier("setup", "gate")
        (self.planned.folder() / "scratch").write_text("only here")
        self.result = self.planned.stage_out("out.txt")

    def check_left(self) -> None:
        super().check_left()
        assert self.result.read_text() == "result"
        ready = self.planned.backend().status(self.planned.request).state is State.READY
        assert kept(self.planned) or not ready
        assert "released" not in self.ledger() or not self.planned.folder().exists()

    def check_done(self) -> None:
        assert self.result.read_text() == "result"
        assert not self.planned.folder().exists()
        assert self.ledger()[-1] == "released"
        assert self.planned.noted().released_at is not None
        [pool] = self.planned.backend().pools()
        assert pool.free == pool.total


class DeleteTooEarly(Delete):
    """One result never arrived."""

    ends = DATA_NOT_SAFE

    def before(self) -> None:
        super().before()
        self.planned.promise({"out.txt": str(self.result), "b": "/nowhere/b"})

    def check_left(self) -> None:
        assert kept(self.planned)
        assert self.ledger() == ["requested"]

    check_done = check_left


STORIES = [Setup, Gate, Delete]


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


def test_giving_back_too_early_changes_nothing_at_all(room: Path) -> None:
    told = DeleteTooEarly(room / "run")
    done = told.run()
    assert (done.status, done.calls) == (DATA_NOT_SAFE, [])
    told.check_left()
