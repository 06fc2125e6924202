"""Which storage a run uses, decided once: its reservation, or the PFS.

Only with --bb-fallback pfs. The gate may decide for the PFS; the first job of the site
decides for the reservation before it writes there. bb/storage_decision.json has the
answer. It is made by link(2), so exactly one of the two wins, and every program of the
run follows it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import create_text, read_json
from pegasus_bb.core.light_typing import TYPE_CHECKING, NamedTuple
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime import manifest
from pegasus_bb.runtime.bbdir import BBDir

if TYPE_CHECKING:
    from typing import Any

DECISION_FILE = "storage_decision.json"
PFS = "pfs"
TIER = "bb"


class StorageDecision(NamedTuple):
    to: str  # bb | pfs
    because: str = ""  # pfs: why the reservation could not be used
    exit_code: int = 0  # pfs: the exit code of the gate without the fallback
    prefix: str = ""  # pfs: the folder that stands for the planned prefix /bb/<name>
    time: float = 0.0


def read_decision(bb: BBDir) -> StorageDecision | None:
    """The decision, or None before there is one. Raises UsageError."""
    path = bb.file(DECISION_FILE)
    try:
        data = read_json(path)
        decision = StorageDecision(
            **{k: v for k, v in data.items() if k in StorageDecision._fields}
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise _unusable(path, str(error)) from error
    if decision.to == PFS and os.path.isabs(str(decision.prefix)):
        return decision
    if decision.to != TIER:
        raise _unusable(path, f"it says {decision.to!r} and {decision.prefix!r}")
    return decision


def _unusable(path: str, why: str) -> UsageError:
    return UsageError(
        f"{path}: cannot be used ({why}), so whether this run is on its reservation or "
        "on the PFS is not known and nothing is written to either"
    )


def decide_storage(bb: BBDir, wanted: StorageDecision) -> StorageDecision:
    """Decide for ``wanted``, unless another process has decided; returns the
    decision."""
    decision = read_decision(bb)
    if decision is None:
        data = {"version": 1, **wanted._asdict(), "time": time.time()}
        create_text(bb.file(DECISION_FILE), json.dumps(data, indent=1) + "\n")
        decision = read_decision(bb)
    return decision or wanted


def on_the_pfs(bb: BBDir, request: Request) -> StorageDecision | None:
    """The decision, if the run uses the PFS instead of its reservation; else None."""
    decision = read_decision(bb) if request.fallback == PFS else None
    return decision if decision and decision.to == PFS else None


def readable_decision(bb: BBDir) -> StorageDecision | None:
    """``on_the_pfs`` for messages: None also if the file cannot be read."""
    try:
        return on_the_pfs(bb, bb.request()) if bb.has_request else None
    except UsageError:
        return None


def may_use_pfs(bb: BBDir, request: Request) -> bool:
    """Whether the run may still fall back to the PFS: it has no data anywhere yet."""
    if request.fallback != PFS or read_decision(bb) is not None:
        return False
    return not manifest.read(bb.file("manifest.jsonl"), request.uuid)


def pfs_prefix(placement: Mapping[str, Any]) -> str:
    """The folder on the PFS that replaces the planned prefix: the site's own scratch.
    Raises UsageError if the run's folder has another relative path there."""
    prefix = str(placement.get("prefix", ""))
    scratch = str(placement.get("scratch"))
    twin = str(placement.get("pfs_scratch", ""))
    below = scratch[len(prefix) :]
    root = twin[: len(twin) - len(below)]
    whole = prefix and below.startswith("/") and scratch == prefix + below
    if not whole or root + below != twin or not root.startswith("/") or root == "/":
        raise UsageError(
            f"placement.json: the run's folder on the PFS, {twin!r}, does not end as "
            f"that on the buffer does, {scratch!r}: the run cannot go on there"
        )
    return root


def decision_message(decision: StorageDecision) -> str:
    return f"this run is on the PFS ({decision.prefix}), not on a burst buffer: " + (
        " ".join(decision.because.split())
    )
