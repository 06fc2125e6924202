"""setup and delete while they talk to Slurm, which goes on.

What a killed program has asked of Slurm happens: the next program has to find it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.support.datawarp_bench import FAKE
from tests.support.fakeslurm.fakeslurm import FRESH
from tests.support.run_programs import NAME, Run

from .lifecycle_stories import OfARun

SETTINGS = {"timeout": "5", "poll": "0", "mount": "any"}


class OnSlurm(OfARun):
    """A run whose reservation is a persistent buffer of Slurm's."""

    spares = True  # sbatch hands its job to another machine
    queries = ("scontrol", "squeue")
    errors = ()

    def plan(self, root: Path) -> Run:
        self.slurm = root / "slurm.json"
        self.slurm.write_text(json.dumps(FRESH))
        (root / "python").mkdir()
        fast = root / "python" / "python3"  # Slurm's answers need no site-packages
        fast.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
        fast.chmod(0o755)
        self.watched = root / "run"
        run = super().plan(self.watched)
        run.request = run.request._replace(backend="datawarp", settings=SETTINGS)
        run.write("request.json", run.request.to_json())
        return run

    @property
    def environ(self) -> dict[str, str]:
        path = f"{FAKE}:{self.root / 'python'}:/usr/bin:/bin"
        ledger = str(self.watched / "ledger.jsonl")
        own = {"FAKE_SLURM": str(self.slurm), "PEGASUS_BB_LEDGER": ledger}
        return {"PATH": path, **own}

    def cluster(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.slurm.read_text())
        return data

    def check_left(self) -> None:
        """Whatever Slurm holds, or was asked for, is on the list."""
        found = self.cluster()
        if found["buffers"] or found["jobs"]:
            assert "requested" in self.ledger()
            assert self.planned.noted().name == NAME


class SetupOnSlurm(OnSlurm):
    words = ("setup",)

    def check_done(self) -> None:
        self.earlier("gate")
        found = self.cluster()
        assert [row["name"] for row in found["buffers"]] == [NAME]
        assert len(found["jobs"]) == 1  # the one of the killed setup was found again
