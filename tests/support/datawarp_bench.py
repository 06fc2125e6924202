"""A Slurm of four executables behind the datawarp backend."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.process import Finished, ask
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.backends import slurm
from pegasus_bb.runtime.backends.datawarp import DataWarp
from tests.support.fakeslurm.fakeslurm import FRESH, answer
from tests.support.forked import answered_here

FAKE = Path(__file__).parent / "fakeslurm"
SETTINGS = {"timeout": "0", "poll": "0", "mount": "any"}


class DataWarpBench:
    """A fake cluster with 1 GiB of burst buffer."""

    def __init__(self, tmp_path: Path) -> None:
        self.file = tmp_path / "slurm.json"
        self.file.write_text(json.dumps(FRESH))
        self.mount = tmp_path / "mount"
        self.mount.mkdir()
        self.backend = DataWarp(SETTINGS)

    def change(self, **values: Any) -> None:
        self.file.write_text(json.dumps({**self.read(), **values}))

    def read(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.file.read_text())
        return data

    def row(self, name: str, size: int = 100, **values: Any) -> None:
        row = {"name": name, "size": size, "uid": os.getuid(), "created": time.time()}
        self.change(buffers=[*self.read()["buffers"], {**row, **values}])

    def occupy(self, name: str) -> str:
        self.row(name, uid=os.getuid() + 1)
        return f"user{os.getuid() + 1}"

    def fill(self) -> None:
        self.row("filler", size=1000)

    def free(self) -> None:
        self.change(
            buffers=[b for b in self.read()["buffers"] if b["name"] != "filler"]
        )

    def go_down(self) -> None:
        self.change(down=True)

    def environ(self, request: Request) -> Mapping[str, str]:
        return {f"DW_PERSISTENT_STRIPED_{request.name}": str(self.mount)}


def answer_as_slurm(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fake Slurm with its state in ``folder``: as programs on PATH, and without the
    start of a Python for what this process asks."""
    monkeypatch.setenv("FAKE_SLURM", str(folder / "slurm.json"))
    monkeypatch.setenv("PATH", f"{FAKE}:{os.environ['PATH']}")
    monkeypatch.setattr(slurm, "ask", _ask)


def _ask(argv: list[str], **more: Any) -> Finished:
    program = shutil.which(argv[0])
    if program and Path(program).parent == FAKE:
        return answered_here(answer, argv)
    return ask(argv, **more)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataWarpBench:
    answer_as_slurm(tmp_path, monkeypatch)
    return DataWarpBench(tmp_path)


def play(tool: str, script: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a script stand for one of Slurm's programs."""
    (folder / tool).write_text(f"#!/bin/sh\n{script}\n")
    (folder / tool).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def questions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets what Slurm is asked from now on."""
    asked: list[str] = []

    def counting(argv: list[str], **rest: Any) -> Any:
        asked.append(" ".join(argv) if argv[0] == "scontrol" else argv[0])
        return usual(argv, **rest)

    usual = vars(slurm)["ask"]  # or what stands for it
    monkeypatch.setattr(slurm, "ask", counting)
    return asked
