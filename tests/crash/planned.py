"""Programs of a planned run, on what its earlier programs have left."""

from __future__ import annotations

import os
from pathlib import Path
from unittest import mock

from tests.runtime.lifecycle import Run

from .sweep import Story


class OfARun(Story):
    """One program of ``bb/bin``; ``words`` are its name and its arguments."""

    words: tuple[str, ...] = ()

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.planned = self.plan(root)
        self.install(self.planned.submit / "bb")
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
