"""A node that keeps the code of a run, and the submit directory of that run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from pegasus_bb.runtime.install import install_runtime

OWN = f"pegasus-bb-{os.getuid()}"
THERE = "the task ran"


class Node:
    """A node with its own folders, and a submit directory that it can only read."""

    def __init__(self, root: Path) -> None:
        self.bb = root / "submit" / "bb"
        self.local = root / "local"
        self.other = root / "other"
        self.local.mkdir(parents=True)
        self.other.mkdir()
        self.install()

    def install(self, *, is_kept: bool = True) -> None:
        """With another folder for /tmp, where the tests of others keep theirs."""
        install_runtime(str(self.bb), sys.executable, is_kept=is_kept)
        for program in (self.bb / "bin").iterdir():
            text = program.read_text().replace('"/tmp"', f'"{self.local}/tmp"')
            program.write_text(text)

    @property
    def kept(self) -> list[Path]:
        found = (self.local / OWN).glob("*.cpython-*")
        return [path for path in found if not path.name.endswith(".part")]

    def command(self, *argv: str) -> tuple[list[str], dict[str, str]]:
        argv = argv or ("echo", THERE)
        places = {"XDG_RUNTIME_DIR": str(self.local), "TMPDIR": str(self.other)}
        return [str(self.bb / "bin" / "record"), *argv], {**os.environ, **places}

    def run(self, *argv: str) -> subprocess.CompletedProcess[str]:
        words, environ = self.command(*argv)
        return subprocess.run(words, env=environ, capture_output=True, text=True)

    def runs(self) -> bool:
        done = self.run()
        assert done.returncode == 0, done.stderr
        return THERE in done.stdout
