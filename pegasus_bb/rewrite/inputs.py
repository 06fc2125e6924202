"""What every pass takes and gives back, and what it may know besides."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.document import Document
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.properties import Properties
from pegasus_bb.model.reservation import Request


@dataclass(frozen=True)
class Inputs:
    """What pegasus-plan reads. Passes share what they do not change: never edit in
    place, and copy no more than the changed part (a workflow may have 100 000 jobs)."""

    workflow: Document
    sites: Document
    replicas: Document
    transformations: Document
    properties: Properties

    @classmethod
    def of(cls, workflow: Document, catalogs: Catalogs) -> Inputs:
        """What the user wrote."""
        return cls(
            workflow,
            catalogs.sites.document,
            catalogs.replicas.document,
            catalogs.transformations.document,
            catalogs.properties,
        )


@dataclass(frozen=True)
class Plan:
    """What was decided before rewriting."""

    site: str  # the compute site whose scratch moves to the tier
    placement: Placement
    request: Request
    submit_dir: Path  # final and absolute

    @property
    def bin(self) -> Path:
        """Where the run's own programs will be."""
        return self.submit_dir / "bb" / "bin"
