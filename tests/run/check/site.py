"""A user's folder, and a site that recorded answers play."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.cli.check import findings
from pegasus_bb.model.finding import Finding, Level
from pegasus_bb.planner.options import PlanOptions
from tests.support.pegasus_site import UserFolder

RECORDED = Path(__file__).parents[2] / "recorded" / "slurm-24.11"
GOOD = "show-burst.two-persistent.txt"


class Site(UserFolder):
    """A user's folder, and the programs on his PATH."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(root)
        self.bin = root / "bin"
        self.bin.mkdir()
        monkeypatch.chdir(self.work)
        monkeypatch.setenv("PATH", f"{self.bin}:/usr/bin:/bin")
        monkeypatch.delenv("PEGASUS_HOME", raising=False)
        monkeypatch.setattr(os, "geteuid", lambda: 1000)

    def tool(self, name: str, lines: str) -> None:
        self.program("bin", name, f"#!/bin/sh\n{lines}\n")

    def slurm(self, recorded: str, status: int = 0) -> None:
        """Slurm's plugin answers with that text."""
        version = '[ "$1" = --version ] && exec echo slurm 24.11.5'
        answer = f"cat {RECORDED / recorded}\nexit {status}"
        self.tool("scontrol", f"{version}\n{answer}")
        self.tier(backend="datawarp")

    def good(self, recorded: str = GOOD) -> None:
        """The answers of a Slurm, and jobs that reach it."""
        self.slurm(recorded)
        self.glite()

    def glite(self) -> None:
        with self.edited("sites.yml") as sites:
            profiles = sites["sites"][1]["profiles"]
            profiles["pegasus"]["style"] = "glite"
            profiles["condor"] = {"grid_resource": "batch slurm"}

    def condor(self) -> None:
        """A schedd that takes jobs."""
        self.tool("condor_version", "echo '$CondorVersion: 23.9.6 2024-08-08 $'")
        self.tool("condor_submit_dag", "exit 0")
        self.tool("condor_q", "exit 0")

    def sizes(self) -> None:
        sizes = {"in.txt": 6, "mid.txt": 100, "out.txt": 50}
        with self.edited("workflow.yml") as workflow:
            for use in (use for job in workflow["jobs"] for use in job["uses"]):
                use["metadata"] = {"size": sizes[use["lfn"]]}

    def check(
        self, output_sites: tuple[str, ...] = ("local",), **said: str
    ) -> list[Finding]:
        options = PlanOptions(
            Path("workflow.yml"),
            Path.cwd(),
            sites=("cori",),
            output_sites=output_sites,
            bb_options={
                "pegasus.bb.mode": "persistent",
                **{f"pegasus.bb.{k}": v for k, v in said.items()},
            },
        )
        return list(findings(options))

    def about(self, topic: str, **said: Any) -> Finding:
        (found,) = (f for f in self.check(**said) if f.about == topic)
        return found

    def wrong(self, **said: Any) -> list[str]:
        return [
            f"{f.about}: {' '.join(f.what.split())} -> {f.would_do}"
            for f in self.check(**said)
            if f.level is Level.WRONG
        ]
