"""Somebody who plans with a Pegasus, which a small program plays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.planner.pegasus_site import write_site

FAKE = Path(__file__).parent / "fake_pegasus_plan.py"


class User:
    """Types commands in a folder; a Pegasus home stands beside it."""

    def __init__(self, root: Path) -> None:
        self.root, self.work = root, root / "work"
        self.home = root / "pegasus"
        (self.home / "bin").mkdir(parents=True)
        self.program("pegasus-plan", f'exec {sys.executable} {FAKE} "$@"')
        self.program("pegasus-run", f'echo "$@" > {root}/submitted')
        write_site(self.work)
        self.environment = {
            "PEGASUS_HOME": str(self.home),
            "FAKE_CALLS": str(root / "calls"),
            "FAKE_OUT": "file:///home/wfuser/out",
            "HOME": str(root),
        }

    def program(self, name: str, line: str) -> None:
        program = self.home / "bin" / name
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o755)

    def plan(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pegasus_bb", "plan", *arguments],
            cwd=self.work,
            env={**os.environ, **self.environment, **more},
            capture_output=True,
            text=True,
        )

    def start(self, *arguments: str, **more: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "pegasus_bb", "plan", *arguments],
            cwd=self.work,
            env={**os.environ, **self.environment, **more},
        )

    def on_tier(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        given = ("--sites", "cori", "--output-sites", "local", "--dir", "submit")
        given += ("--relative-submit-dir", "r", "--bb-mode", "persistent")
        return self.plan(*given, *words, "workflow.yml", **more)

    @property
    def submit(self) -> Path:
        return self.work / "submit" / "r"

    def calls(self) -> list[str]:
        said: list[str] = json.loads((self.root / "calls").read_text())
        return said

    def read(self, name: str) -> Any:
        return json.loads((self.submit / "bb" / name).read_text())
