"""Workflow and catalogs of a small chain, for planning by other planners."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


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
