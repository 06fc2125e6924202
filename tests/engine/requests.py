"""What a run asked for, on a directory tier."""

from __future__ import annotations

from pathlib import Path

from pegasus_bb.files import write_json
from pegasus_bb.model.reservation import Request
from pegasus_bb.reservation.registry import open_backend
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.units import MIB


def request_of(name: str, tier: Path) -> Request:
    return Request(
        name=name,
        backend="directory",
        capacity=8 * MIB,
        prefix=f"/bb/{name}",
        uuid="11111111-2222-3333-4444-555555555555",
        tier="bb",
        site="cluster",
        settings={"path": str(tier), "quota": "64MiB"},
    )


def reserved(submit_dir: Path, name: str, tier: Path) -> Request:
    """The bb folder of a run whose reservation is up and noted."""
    request, bb = request_of(name, tier), submit_dir / "bb"
    bb.mkdir()
    write_json(str(bb / "request.json"), request.to_json())
    write_json(str(bb / "plan.json"), {"version": 2, "dag": "w.dag"})
    BBDir(str(bb)).note_reservation(
        open_backend("directory", request.settings).create(request)
    )
    return request
