"""A user's folder and a real pegasus-plan, where there is one.

Where there is no HTCondor, empty programs stand in for those that pegasus-plan calls.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.planner.pegasus import find_home
from tests.planner.pegasus_site import write_site

HOME = find_home(os.environ)
CONDOR = ("condor_submit_dag", "condor_version", "condor_config_val", "condor_dagman")
STUB = """#!/bin/sh
for word; do case "$word" in *.dag) : > "$word.condor.sub";; esac; done
"""
MARKS = [
    pytest.mark.real_pegasus,
    pytest.mark.skipif(HOME is None, reason="no PEGASUS_HOME and no pegasus-plan"),
]


class WorkflowRunner:
    """A user's folder, with a home of its own for Pegasus's database."""

    def __init__(self, root: Path, style: str = "condor") -> None:
        assert HOME is not None
        self.root, self.work, self.style = root, root / "work", style
        self.pegasus = HOME.bin
        write_site(self.work, str(HOME.bin.parent), style)
        (root / "stubs").mkdir()
        for name in CONDOR:
            if shutil.which(name) is None:
                stub = root / "stubs" / name
                stub.write_text(STUB)
                stub.chmod(0o755)
        path = f"{root / 'stubs'}:{HOME.bin}:{os.environ['PATH']}"
        self.environment = {
            **os.environ,
            "PATH": path,
            "HOME": str(root),
            "PEGASUS_METRICS": "false",
            "PEGASUS_BB_LEDGER": str(root / "ledger.jsonl"),
        }

    def try_call(self, *argv: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            argv,
            cwd=self.work,
            env={**self.environment, **more},
            capture_output=True,
            text=True,
            timeout=120,
        )

    def call(self, *argv: str, **more: str) -> subprocess.CompletedProcess[str]:
        done = self.try_call(*argv, **more)
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def plan(self, name: str, *words: str, mode: str = "persistent") -> Path:
        given = ("--sites", "cori", "--output-sites", "local", "--dir", "submit")
        given += ("--relative-submit-dir", name, "--bb-mode", mode)
        bb = (sys.executable, "-m", "pegasus_bb", "plan")
        self.call(*bb, *given, *words, "workflow.yml")
        return self.work / "submit" / name

    def change(self, file: str, **values: Any) -> None:
        data = json.loads((self.work / file).read_text())
        (self.work / file).write_text(json.dumps({**data, **values}))
