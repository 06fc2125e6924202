"""A job whose files are on one node has one node."""

from __future__ import annotations

from typing import Dict

from pegasus_bb.errors import ReservationFailed

_NODES = "SLURM_JOB_NUM_NODES"


def check_one_node(environ: Dict[str, str]) -> None:
    """Raises ReservationFailed in a job of which a part would not see its files."""
    nodes = environ.get(_NODES, "1")
    if nodes not in ("", "1"):
        raise ReservationFailed(
            f"this job has {nodes} nodes (${_NODES}), and what one has to itself the "
            "others do not see: one node for it, or bb.tier: pfs for its files"
        )
