"""A user's folder: a small workflow, its catalogs, and one tier to place it on."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.decide.decision import Ending, PlacementDecision, PlanningInput
from pegasus_bb.decide.place_files import place_files, with_capacity
from pegasus_bb.model.catalogs import Catalogs, load_inputs
from pegasus_bb.model.graph import build_graph
from pegasus_bb.model.placement import PlacedFile, Placement
from pegasus_bb.model.property_files import read_properties
from pegasus_bb.model.settings import Settings, read_settings
from pegasus_bb.model.workflow import Job, Workflow, read_workflow


def use(lfn: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"lfn": lfn, "type": kind, **more}


def job(ident: str, *uses: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "job", "name": "work", "id": ident, "uses": list(uses), **more}


def own_profile(job: Job, key: str) -> str | None:
    """Where programs have no profiles."""
    return job.profile("pegasus", key)


def sized(size: int | str) -> dict[str, Any]:
    return {"metadata": {"size": size}}


def said(tier: str, size: int = 1) -> dict[str, Any]:
    return {"metadata": {"bb.tier": tier, "size": size}}


def two_jobs() -> list[dict[str, Any]]:
    """ID1 reads in.txt; mid.txt and keep.txt go on to ID2, which makes out.txt."""
    return [
        job(
            "ID1",
            use("in.txt", "input", **sized(100)),
            use("mid.txt", "output", stageOut=False, **sized(10)),
            use("keep.txt", "output", stageOut=True, **sized(20)),
        ),
        job(
            "ID2",
            use("mid.txt", "input"),
            use("keep.txt", "input"),
            use("ref.txt", "input", **sized(200)),
            use("out.txt", "output", **sized(30)),
        ),
    ]


@dataclass
class User:
    """What the user wrote; change it, then ``decide``."""

    folder: Path
    jobs: list[dict[str, Any]] = field(default_factory=two_jobs)
    tier: dict[str, Any] = field(default_factory=dict)  # over the plain one
    other_tiers: list[dict[str, Any]] = field(default_factory=list)
    site: str = "cluster"
    replicas: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    replica_metadata: dict[str, dict[str, Any]] = field(default_factory=dict)
    transformations: list[dict[str, Any]] = field(default_factory=list)
    containers: list[dict[str, Any]] = field(default_factory=list)
    placement: str = ""  # text of a placement file
    defines: list[str] = field(default_factory=list)
    ending: Ending = field(default_factory=Ending)

    def read(self) -> tuple[Workflow, Catalogs, Settings]:
        self._write()
        home = self.folder / "empty"
        defines = list(self.defines)
        if self.placement:
            (self.folder / "placement.yml").write_text(self.placement)
            defines.append("pegasus.bb.placement=placement.yml")
        properties = read_properties(None, defines, self.folder, home)
        workflow, catalogs = load_inputs(
            self.folder / "workflow.yml", properties, self.folder
        )
        return read_workflow(workflow), catalogs, read_settings(properties, self.folder)

    def given(self) -> PlanningInput:
        workflow, catalogs, settings = self.read()
        return PlanningInput(
            workflow=workflow,
            graph=build_graph(workflow),
            catalogs=catalogs,
            settings=settings,
            site=catalogs.sites.site(self.site),
            ending=self.ending,
        )

    def decision(self) -> PlacementDecision:
        given = self.given()
        tier = given.catalogs.tiers[self.site][0]
        return with_capacity(given, place_files(given, tier))

    def decide(self) -> Placement:
        return self.decision().placement

    def is_refused(self, words: str) -> CatalogError:
        """The error of deciding, in which these words are."""
        with pytest.raises(CatalogError, match=words) as caught:
            self.decide()
        return caught.value

    def placed(self, lfn: str) -> PlacedFile:
        return self.decide().files[lfn]

    def homes(self) -> dict[str, tuple[str, str]]:
        """LFN -> (tier, how)."""
        return {f.lfn: (f.tier, f.how) for f in self.decide().files.values()}

    def _write(self) -> None:
        tier = {"name": "bb", "backend": "datawarp", **self.tier}
        scratch = {"type": "sharedScratch", "path": "/lus/scratch"}
        self._dump("workflow.yml", {"pegasus": "5.0", "name": "w", "jobs": self.jobs})
        self._dump(
            "sites.yml",
            {
                "pegasus": "5.0",
                "sites": [
                    {"name": "local", "directories": [scratch]},
                    {"name": "cluster", "directories": [scratch]},
                ],
                "x-storage-tiers": {self.site: [tier, *self.other_tiers]},
            },
        )
        self._dump("replicas.yml", {"pegasus": "5.0", "replicas": self._replicas()})
        known = {each["name"] for each in self.transformations}
        work = {"name": "cluster", "pfn": "/usr/bin/true", "type": "installed"}
        plain = [] if "work" in known else [{"name": "work", "sites": [work]}]
        programs = {
            "transformations": [*self.transformations, *plain],
            "containers": self.containers,
        }
        self._dump("transformations.yml", {"pegasus": "5.0", **programs})

    def _replicas(self) -> list[dict[str, Any]]:
        return [
            {"lfn": lfn, "pfns": pfns, "metadata": self.replica_metadata.get(lfn, {})}
            for lfn, pfns in self.replicas.items()
        ]

    def _dump(self, name: str, data: Any) -> None:
        (self.folder / name).write_text(
            yaml.dump(data, Dumper=yaml.CSafeDumper, sort_keys=False)
        )
