"""Workflow and catalogs of a small chain, and a folder in which a user plans it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support import forked

SITES = ("--sites", "cori", "--output-sites", "local")
GIVEN = (*SITES, "--dir", "submit", "--relative-submit-dir", "r")


class UserFolder:
    """Commands are typed in ``work``; plans go to ``submit``, results to ``out``."""

    def __init__(
        self, root: Path, pegasus: str = "/opt/pegasus", style: str = "condor"
    ) -> None:
        self.root, self.work = root, root / "work"
        self.submit = self.work / "submit" / "r"
        write_site(self.work, pegasus, style)
        self.environment = {**os.environ, "HOME": str(root)}
        self.environment["PEGASUS_BB_LEDGER"] = str(root / "ledger.jsonl")

    def program(self, folder: str, name: str, text: str) -> None:
        """A program of ``text`` in a folder of the root."""
        (self.root / folder).mkdir(parents=True, exist_ok=True)
        (self.root / folder / name).write_text(text)
        (self.root / folder / name).chmod(0o755)

    def call(self, *argv: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            argv,
            cwd=self.work,
            env={**self.environment, **more},
            capture_output=True,
            text=True,
            timeout=120,
        )

    def bb(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        environ = {**self.environment, **more}
        return forked.pegasus_bb(list(words), self.work, environ)

    def try_plan(
        self, mode: str, *words: str, **more: str
    ) -> subprocess.CompletedProcess[str]:
        argv = ("plan", *GIVEN, "--bb-mode", mode, *words, "workflow.yml")
        return self.bb(*argv, **more)

    def plan(self, mode: str, *words: str) -> Path:
        self.told(mode, *words)
        return self.submit

    def told(self, mode: str, *words: str, **more: str) -> str:
        """What planning says."""
        done = self.try_plan(mode, *words, **more)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stderr

    def refused(self, mode: str, *words: str, **more: str) -> str:
        """What planning says that refuses it, as one line."""
        done = self.try_plan(mode, *words, **more)
        assert done.returncode == 2, done.stdout + done.stderr
        return " ".join(done.stderr.split())

    def run(self, result: str = "out.txt") -> str:
        """Run what was planned; the result."""
        done = self.bb("run", str(self.submit))
        assert done.returncode == 0, done.stdout + done.stderr
        return (self.work / "out" / result).read_text()

    @property
    def standing(self) -> list[Path]:
        """Reservations that were not given back."""
        return [p for p in (self.work / "fast").iterdir() if p.is_dir()]

    def read(self, name: str) -> Any:
        """A JSON file of bb/."""
        return json.loads((self.submit / "bb" / name).read_text())

    @contextmanager
    def edited(self, file: str) -> Iterator[Any]:
        """The data of ``file``, written when the block ends."""
        data = json.loads((self.work / file).read_text())
        yield data
        (self.work / file).write_text(json.dumps(data))

    def tier(self, **keys: Any) -> None:
        """Change the tier; only one of a directory has a folder."""
        with self.edited("sites.yml") as sites:
            (tier,) = sites["x-storage-tiers"]["cori"]
            if keys.get("backend", "directory") != "directory":
                tier.pop("path", None)
            tier.update(keys)

    def change(self, file: str, **values: Any) -> None:
        with self.edited(file) as data:
            data.update(values)


def write_site(
    work: Path, pegasus: str = "/opt/pegasus", style: str = "condor"
) -> None:
    """in.txt -> mid.txt -> out.txt on site cori, in folder ``work``."""
    work.mkdir(parents=True)
    (work / "in.txt").write_text("hello\n")
    program = work / "cat1.sh"
    program.write_text('#!/bin/sh\ncat "$1" > "$2"\n')
    program.chmod(0o755)

    def save(name: str, data: dict[str, Any]) -> None:
        text = json.dumps({"pegasus": "5.0", **data}, indent=1)
        (work / name).write_text(text)

    save("sites.yml", _sites(work, pegasus, style))
    sites = [{"name": "cori", "pfn": str(program), "type": "installed"}]
    save("transformations.yml", {"transformations": [{"name": "cat1", "sites": sites}]})
    pfns = [{"site": "local", "pfn": str(work / "in.txt")}]
    save("replicas.yml", {"replicas": [{"lfn": "in.txt", "pfns": pfns}]})
    jobs = [_job("ID1", "in.txt", "mid.txt", False), _job("ID2", "mid.txt", "out.txt")]
    below = [{"id": "ID1", "children": ["ID2"]}]
    save("workflow.yml", {"name": "demo", "jobs": jobs, "jobDependencies": below})


def _job(ident: str, reads: str, writes: str, result: bool = True) -> dict[str, Any]:
    uses: list[dict[str, Any]] = [{"lfn": reads, "type": "input"}]
    written = {"lfn": writes, "type": "output", "stageOut": result}
    uses.append({**written, "registerReplica": True})
    entry = {"type": "job", "name": "cat1", "id": ident, "arguments": [reads, writes]}
    return {**entry, "uses": uses}


def _sites(work: Path, pegasus: str, style: str) -> dict[str, Any]:
    def folder(kind: str, name: str) -> dict[str, Any]:
        server = {"url": f"file://{work}/{name}", "operation": "all"}
        return {"type": kind, "path": f"{work}/{name}", "fileServers": [server]}

    profiles: dict[str, Any] = {
        "pegasus": {"style": style},
        "env": {"PEGASUS_HOME": pegasus, "ODD": "keep THIS"},
    }
    if style == "glite":
        profiles["condor"] = {"grid_resource": "batch slurm"}
    login = {"type": "batch", "contact": "me@cori", "scheduler": "slurm"}
    grids = [{**login, "jobtype": role} for role in ("compute", "auxillary")]
    local = [folder("sharedScratch", "local"), folder("localStorage", "out")]
    tier = {"name": "bb", "backend": "directory", "path": str(work / "fast")}
    return {
        "x-storage-tiers": {"cori": [{**tier, "capacity": "10MiB"}]},
        "sites": [
            {"name": "local", "directories": local},
            {
                "name": "cori",
                "directories": [folder("sharedScratch", "scratch")],
                "profiles": profiles,
                **({"grids": grids} if style == "ssh" else {}),
            },
        ],
    }
