"""A user's folder, and a site that recorded answers play."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.cli.check import findings
from pegasus_bb.model.finding import Finding, Level
from pegasus_bb.planner.options import PlanOptions
from tests.support.pegasus_site import write_site

RECORDED = Path(__file__).parents[2] / "recorded" / "slurm-24.11"
GOOD = "show-burst.two-persistent.txt"


class Site:
    """A user's folder, and the programs on his PATH."""

    def __init__(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, style: str = "condor"
    ) -> None:
        self.work, self.bin = root / "work", root / "bin"
        self.bin.mkdir(parents=True)
        write_site(self.work, style=style)
        monkeypatch.chdir(self.work)
        monkeypatch.setenv("PATH", f"{self.bin}:/usr/bin:/bin")
        monkeypatch.delenv("PEGASUS_HOME", raising=False)
        monkeypatch.setattr(os, "geteuid", lambda: 1000)

    def program(self, name: str, lines: str) -> None:
        (self.bin / name).write_text(f"#!/bin/sh\n{lines}\n")
        (self.bin / name).chmod(0o755)

    def slurm(self, recorded: str, status: int = 0) -> None:
        """Slurm's plugin answers with that text."""
        version = '[ "$1" = --version ] && exec echo slurm 24.11.5'
        answer = f"cat {RECORDED / recorded}\nexit {status}"
        self.program("scontrol", f"{version}\n{answer}")
        self.tier(backend="datawarp")

    def tier(self, **keys: str) -> None:
        def change(sites: dict[str, Any]) -> None:
            (tier,) = sites["x-storage-tiers"]["cori"]
            if keys.get("backend") == "datawarp":
                tier.pop("path")
            tier.update(keys)

        self.edit("sites.yml", change)

    def edit(self, name: str, change: Any) -> None:
        data = json.loads((self.work / name).read_text())
        change(data)
        (self.work / name).write_text(json.dumps(data))

    def good(self, recorded: str = GOOD) -> None:
        """The answers of a Slurm, and jobs that reach it."""
        self.slurm(recorded)
        self.glite()

    def glite(self) -> None:
        def change(sites: dict[str, Any]) -> None:
            profiles = sites["sites"][1]["profiles"]
            profiles["pegasus"]["style"] = "glite"
            profiles["condor"] = {"grid_resource": "batch slurm"}

        self.edit("sites.yml", change)

    def condor(self) -> None:
        """A schedd that takes jobs."""
        self.program("condor_version", "echo '$CondorVersion: 23.9.6 2024-08-08 $'")
        self.program("condor_submit_dag", "exit 0")
        self.program("condor_q", "exit 0")

    @staticmethod
    def site_profiles(namespace: str) -> Callable[[dict[str, Any]], dict[str, str]]:
        """The compute site's profiles of that namespace, of what sites.yml holds."""
        return lambda sites: sites["sites"][1]["profiles"][namespace]

    def sizes(self) -> None:
        def declare(workflow: dict[str, Any]) -> None:
            sizes = {"in.txt": 6, "mid.txt": 100, "out.txt": 50}
            for job in workflow["jobs"]:
                for use in job["uses"]:
                    use["metadata"] = {"size": sizes[use["lfn"]]}

        self.edit("workflow.yml", declare)

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
