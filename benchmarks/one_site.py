"""Catalogs of a site that is not here, for forecasts alone."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from pegasus_bb.api.keywords import options_of
from pegasus_bb.planner.options import PlanOptions


class File(NamedTuple):
    lfn: str
    kind: str  # input or output
    size: int  # bytes

    @property
    def use(self) -> dict[str, Any]:
        is_made = self.kind == "output"
        kept = {"stageOut": False, "registerReplica": False} if is_made else {}
        size = {"metadata": {"size": self.size}}
        return {"lfn": self.lfn, "type": self.kind, **size, **kept}


def site_documents(
    name: str,
    scratch: str,
    tier: dict[str, Any],
    speeds: dict[str, Any],
    programs: Iterable[str],
) -> dict[str, dict[str, Any]]:
    """Its site catalog, and a transformation catalog."""
    server = {"url": f"file://{scratch}", "operation": "all"}
    folder = {"type": "sharedScratch", "path": scratch, "fileServers": [server]}
    return {
        "sites": {
            "sites": [{"name": name, "directories": [folder]}],
            "x-storage-tiers": {name: [tier]},
            "x-storage-speeds": {name: speeds},
        },
        "transformations": {
            "transformations": [
                {
                    "name": program,
                    "sites": [
                        {"name": name, "pfn": f"/opt/{program}", "type": "installed"}
                    ],
                }
                for program in sorted(programs)
            ]
        },
    }


def write_documents(folder: Path, **documents: dict[str, Any]) -> None:
    """Each as NAME.yml; JSON is YAML."""
    for name, document in documents.items():
        text = json.dumps({"pegasus": "5.0", **document})
        (folder / f"{name}.yml").write_text(text)


def replica(lfn: str) -> dict[str, Any]:
    return {"lfn": lfn, "pfns": [{"site": "site", "pfn": f"/data/{lfn}"}]}


def options_in(folder: Path) -> PlanOptions:
    """Of a workflow whose files are all in ``folder``."""
    options = options_of(folder / "workflow.yml", {"sites": "site"}, "persistent")
    return replace(options, cwd=folder)
