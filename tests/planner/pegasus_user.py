"""A user who plans with a Pegasus that a small program plays."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.support.pegasus_site import UserFolder

FAKE = Path(__file__).parent / "fake_pegasus_plan.py"


class User(UserFolder):
    """A Pegasus home stands beside the folder."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.home = root / "pegasus"
        self.tool("pegasus-plan", f'exec {sys.executable} {FAKE} "$@"')
        self.tool("pegasus-run", f'echo "$@" > {root}/submitted')
        self.environment |= {
            "PEGASUS_HOME": str(self.home),
            "FAKE_CALLS": str(root / "calls"),
            "FAKE_OUT": "file:///home/wfuser/out",
        }

    def tool(self, name: str, line: str) -> None:
        self.program("pegasus/bin", name, f"#!/bin/sh\n{line}\n")

    def on_tier(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return self.try_plan("persistent", *words, **more)

    def calls(self) -> list[str]:
        said: list[str] = json.loads((self.root / "calls").read_text())
        return said
