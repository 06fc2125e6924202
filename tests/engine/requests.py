"""What a run asked for, on a directory tier."""

from __future__ import annotations

from pathlib import Path

from pegasus_bb.model.reservation import Request
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
