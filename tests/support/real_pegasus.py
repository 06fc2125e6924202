"""A user's folder and a real pegasus-plan, if there is one.

Without HTCondor, empty programs stand in for those that pegasus-plan calls.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.planner.pegasus_home import find_home
from tests.support.pegasus_site import UserFolder

HOME = find_home()
CONDOR = ("condor_submit_dag", "condor_version", "condor_config_val", "condor_dagman")
STUB = """#!/bin/sh
for word; do case "$word" in *.dag) : > "$word.condor.sub";; esac; done
"""
MARKS = [
    pytest.mark.real_pegasus,
    pytest.mark.skipif(HOME is None, reason="no PEGASUS_HOME and no pegasus-plan"),
]


class WorkflowRunner(UserFolder):
    """With a home of its own for Pegasus's database."""

    def __init__(self, root: Path, style: str = "condor", **tier: Any) -> None:
        assert HOME is not None
        self.pegasus = HOME.bin
        super().__init__(root, str(HOME.bin.parent), style)
        (root / "stubs").mkdir()
        for name in CONDOR:
            if shutil.which(name) is None:
                self.program("stubs", name, STUB)
        path = f"{root / 'stubs'}:{HOME.bin}:{os.environ['PATH']}"
        self.environment |= {"PATH": path, "PEGASUS_METRICS": "false"}
        if tier:
            self.tier(**tier)
