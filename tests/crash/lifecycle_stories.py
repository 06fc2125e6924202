"""setup, gate, delete and the first job of a run, on what its earlier programs left."""

from __future__ import annotations

import json
import os
from pathlib import Path
from unittest import mock

from pegasus_bb.model.reservation import State
from pegasus_bb.runtime.programs.gate import NONE, USE
from pegasus_bb.runtime.storage_decision import (
    DECISION_FILE,
    StorageDecision,
    read_decision,
)
from tests.support.forked import install_programs
from tests.support.run_programs import DIRECTIVE, NAME, Run, kept

from .sweep import Story


class OfARun(Story):
    """One program of ``bb/bin``; ``words`` are its name and its arguments."""

    words: tuple[str, ...] = ()

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.planned = self.plan(root)
        install_programs(self.planned.submit / "bb")
        self.before()

    def plan(self, root: Path) -> Run:
        """As it was planned."""
        return Run(root)

    def before(self) -> None:
        """What happened to the run so far."""

    @property
    def argv(self) -> list[str]:
        program, *arguments = self.words
        return [f"{self.planned.bb.path}/bin/{program}", *arguments]

    def earlier(self, *programs: str) -> None:
        """They end well, as this program's user would start them."""
        with mock.patch.dict(os.environ, self.environ):
            for program in programs:
                assert getattr(self.planned, program)() == 0


class Lifecycle(OfARun):
    """A run whose reservation is on a directory tier."""

    def check_left(self) -> None:
        """Listed before it exists, and every note is whole."""
        rows = [row.name for row in self.planned.backend().list_reservations([]).rows]
        there = self.planned.stands
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
        assert [
            row.name for row in self.planned.backend().list_reservations([]).rows
        ] == [NAME]
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
        assert "released" not in self.ledger() or not self.planned.stands

    def check_done(self) -> None:
        assert self.result.read_text() == "result"
        assert not self.planned.stands
        assert self.ledger()[-1] == "released"
        assert self.planned.noted().released_at is not None
        [pool] = self.planned.backend().pools()
        assert pool.free == pool.total


class Fallback(OfARun):
    """A run with --bb-fallback pfs."""

    def plan(self, root: Path) -> Run:
        run = super().plan(root)
        run.request = run.request._replace(fallback="pfs")
        run.change()
        run.place()
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
        assert not self.planned.stands
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
        assert "released" not in self.ledger() or not self.planned.stands

    def check_done(self) -> None:
        assert not self.planned.stands
        assert self.ledger()[-1] == "released"
        [pool] = self.planned.backend().pools()
        assert pool.free == pool.total
