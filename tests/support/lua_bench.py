"""The staging service's own answers behind the slurm-lua backend."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.process import Finished
from pegasus_bb.core.units import MIB
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.backends import slurm_lua
from pegasus_bb.runtime.backends.slurm_lua import SlurmLua
from tests.support.fakelua.site import answer, asked
from tests.support.forked import answered_here

FAKE = Path(__file__).parent / "fakelua"
OTHER = 61001


class LuaBench:
    """A site of one pool of 1 GiB."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.backend = SlurmLua({"timeout": "5", "poll": "0"})

    def occupy(self, name: str) -> str:
        words = (f"name={name}", f"capacity={4 * MIB}", "uuid=theirs")
        asked(self.folder, OTHER, "create", *words)
        return str(OTHER)

    def fill(self) -> None:
        words = ("name=filler", f"capacity={1000 * MIB}", "uuid=theirs")
        asked(self.folder, OTHER, "create", *words)

    def free(self) -> None:
        asked(self.folder, OTHER, "delete", "name=filler")

    def go_down(self) -> None:
        (self.folder / "down").touch()

    def environ(self, request: Request) -> Mapping[str, str]:
        path = self.folder / "bb" / request.name
        return {f"BB_PERSISTENT_{request.name}": str(path)}


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LuaBench:
    monkeypatch.setenv("FAKE_SITE", str(tmp_path))
    monkeypatch.setenv("PATH", f"{FAKE}:{os.environ['PATH']}")
    monkeypatch.setattr(slurm_lua, "ask", _answered_here)
    return LuaBench(tmp_path)


def _answered_here(argv: list[str], **_: Any) -> Finished:
    """Answer as the fake scontrol does, without the start of a Python."""
    return answered_here(answer, argv[1:])
