"""What a planning knows beside workflow and catalogs; made once, never changed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.model.placement import Placement
from pegasus_bb.model.reservation import Request
from pegasus_bb.prediction import Predicted
from pegasus_bb.rewrite import Plan


@dataclass(frozen=True)
class RunPlan:
    """One planning: one abstract workflow to one submit directory."""

    label: str  # the workflow's name; file names begin with <label>-0
    user: str
    timestamp: str  # ISO 8601 with zone: -T of records, stamp of braindump.yml
    uuid: str  # of this run
    submit_dir: Path  # final and absolute; files are written elsewhere, then renamed
    base_dir: Path  # what --dir said; submit_dir lies below it
    relative_dir: str  # below the site's scratch: user/pegasus/label/run0001
    site: str  # where the tasks run
    output_site: str  # where results go; empty: they stay in scratch
    output_dir: Path | None  # --output-dir, in place of the output site's storage
    cleanup: str  # none | leaf | inplace
    arguments: tuple[str, ...]  # the command line, for braindump.yml
    request: Request | None = None  # of all jobs together: persistent, hybrid
    placement: Placement | None = None  # None in mode off
    # Of single jobs, transient and hybrid: what their reservations have in common.
    transient: Request | None = None
    poll: int = 10  # seconds between two runs of a deferred gate
    predicted: Predicted | None = None  # None if the speed of the storage is unknown
    python: str = ""  # the Python of compute nodes; empty: the system's own

    @property
    def mode(self) -> str:
        """off | persistent | transient | hybrid"""
        if self.transient is None:
            return "off" if self.request is None else "persistent"
        return "transient" if self.request is None else "hybrid"

    @property
    def gate_again(self) -> int:
        """How often the gate and its node are tried once more: where the reservation
        is gone before that node had it, the gate may let the run go on on the PFS."""
        return int(self.request is not None and self.request.fallback == "pfs")

    @property
    def tier(self) -> str:
        """The tier's name; empty in mode off."""
        request = self.request or self.transient
        return request.tier if request else ""

    @property
    def bin(self) -> Path:
        """Where the run's own programs are."""
        return self.submit_dir / "bb" / "bin"

    @property
    def rewriting(self) -> Plan | None:
        """What the passes of rewriting know; None in mode off."""
        request = self.request or self.transient
        if request is None or self.placement is None:
            return None
        return Plan(self.site, self.placement, request, self.submit_dir)
