"""Mode hybrid: one job with a reservation of its own, beside the shared one."""

from __future__ import annotations

import json
from pathlib import Path

from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.backends import identity
from pegasus_bb.runtime.backends.backend_table import open_backend
from tests.support.job_reservation_site import JobSite

NAME = "pbbrun1"
PREFIX = f"/bb/{NAME}"  # planned, and nowhere
BELOW = "user/pegasus/demo/run0001"


class HybridSite(JobSite):
    """The task reads in.txt, which all jobs share, and pfs-in.txt, a link there to the
    PFS; it makes out.txt and sub/more.txt, which no other job reads, shared.txt, and
    pfs-out.txt, which the user wants on the PFS."""

    def __init__(self, root: Path, backend: str) -> None:
        super().__init__(root, backend)
        self.request = request = self._of_all(self.bbdir.transient())
        self.write("request.json", request._replace(prefix=PREFIX).to_json())
        self.write("plan.json", {"version": 2, "scratch": f"{PREFIX}/{BELOW}"})
        files = {"read": ["in.txt", "pfs-in.txt"], "share": ["shared.txt"]}
        self.reserve(stage_in=[], **files)
        self.base = self._reserved(request)
        self.shared = self.base / BELOW  # the run's folder there
        self.shared.mkdir(parents=True)
        (self.scratch / "in.txt").rename(self.shared / "in.txt")
        (self.shared / "pfs-in.txt").symlink_to(self.scratch / "pfs-in.txt")

    def _of_all(self, own: Request) -> Request:
        if self.backend != "node-local":
            return own._replace(access="striped")
        settings = {"path": str(self.root / "tier")}
        return own._replace(backend="directory", settings=settings)

    def _reserved(self, request: Request) -> Path:
        if request.backend == "directory":
            open_backend("directory", request.settings).create(request)
            return Path(request.settings["path"]) / NAME
        (self.fast / "run" / "in.txt").unlink(missing_ok=True)  # nothing is staged in
        base = self.root / "mounted"
        base.mkdir()
        identity.note(str(base), {"name": NAME, "uuid": request.uuid})
        return base

    @property
    def inputs(self) -> Path:
        return self.shared

    @property
    def mounts(self) -> dict[str, str]:
        if self.request.backend == "directory":
            return {}
        return {f"DW_PERSISTENT_STRIPED_{NAME}": str(self.base)}

    def own_reservations(self) -> list[str]:
        return [name for name in super().own_reservations() if name != self.base.name]

    def text(self, lfn: str) -> str:
        return (self.shared / lfn).read_text()

    @property
    def ledger(self) -> list[str]:
        lines = (self.root / "ledger.jsonl").read_text().splitlines()
        return [str(json.loads(line)["event"]) for line in lines]
