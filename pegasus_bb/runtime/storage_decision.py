"""Which storage a run uses, decided once: its reservation, or the PFS.

Only with --bb-fallback pfs. The gate may decide for the PFS; the first job of the site
decides for the reservation before it writes there. bb/storage_decision.json holds the
answer. It is made by link(2), so one of the two comes first, and every program of the
run follows it.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any, Mapping, NamedTuple, Optional

from pegasus_bb.errors import UsageError
from pegasus_bb.files import create_text, read_json
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime import manifest
from pegasus_bb.runtime.bbdir import BBDir

DECISION_FILE = "storage_decision.json"
PFS, TIER = "pfs", "bb"


class StorageDecision(NamedTuple):
    to: str  # bb | pfs
    because: str = ""  # pfs: why the reservation could not be used, in its own words
    exit_code: int = 0  # pfs: what the gate would have answered without the fallback
    prefix: str = ""  # pfs: the folder that stands for the planned prefix /bb/<name>
    time: float = 0.0


def read_decision(bb: BBDir) -> Optional[StorageDecision]:
    """None while nothing is decided. Raises UsageError."""
    path = bb.file(DECISION_FILE)
    try:
        data = read_json(path)
        found = StorageDecision(
            **{k: v for k, v in data.items() if k in StorageDecision._fields}
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise _unusable(path, str(error)) from error
    if found.to == PFS and os.path.isabs(str(found.prefix)):
        return found
    if found.to != TIER:
        raise _unusable(path, f"it says {found.to!r} and {found.prefix!r}")
    return found


def _unusable(path: str, why: str) -> UsageError:
    return UsageError(
        f"{path}: cannot be used ({why}), so whether this run is on its reservation or "
        "on the PFS is not known and nothing is written to either"
    )


def decide_storage(bb: BBDir, wanted: StorageDecision) -> StorageDecision:
    """The decision that holds: ``wanted``, unless another process decided before."""
    found = read_decision(bb)
    if found is None:
        data = {"version": 1, **wanted._asdict(), "time": time.time()}
        create_text(bb.file(DECISION_FILE), json.dumps(data, indent=1) + "\n")
        found = read_decision(bb)
    return found or wanted


def on_the_pfs(bb: BBDir, request: Request) -> Optional[StorageDecision]:
    """The decision, if the run is on the PFS though it asked for a buffer."""
    found = read_decision(bb) if request.fallback == PFS else None
    return found if found and found.to == PFS else None


def readable_decision(bb: BBDir) -> Optional[StorageDecision]:
    """``on_the_pfs`` for messages: None also if nothing can be read."""
    try:
        return on_the_pfs(bb, bb.request()) if bb.has_request else None
    except UsageError:
        return None


def may_use_pfs(bb: BBDir, request: Request) -> bool:
    """Whether the run may still go to the PFS: it has no data anywhere yet."""
    if request.fallback != PFS or read_decision(bb) is not None:
        return False
    return not manifest.read(bb.file("manifest.jsonl"), request.uuid)


def pfs_prefix(placement: Mapping[str, Any]) -> str:
    """What the planned prefix is on the PFS: the site's own scratch. Raises UsageError
    where the run's folder there is not the one on the buffer, moved."""
    prefix, scratch = str(placement.get("prefix", "")), str(placement.get("scratch"))
    twin = str(placement.get("pfs_scratch", ""))
    below = scratch[len(prefix) :]
    found = twin[: len(twin) - len(below)]
    whole = prefix and below.startswith("/") and scratch == prefix + below
    if not whole or found + below != twin or not found.startswith("/") or found == "/":
        raise UsageError(
            f"placement.json: the run's folder on the PFS, {twin!r}, does not end as "
            f"that on the buffer does, {scratch!r}: the run cannot go on there"
        )
    return found


def decision_message(found: StorageDecision) -> str:
    return f"this run is on the PFS ({found.prefix}), not on a burst buffer: " + (
        " ".join(found.because.split())
    )
