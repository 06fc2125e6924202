"""manifest.jsonl: a line per promised result that reached its destination."""

from __future__ import annotations

import time

from pegasus_bb.core.files import read_journal
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.runtime.staging.items import Landed

if TYPE_CHECKING:
    from typing import Any


def line(lfn: str, dest: str, landed: Landed, uuid: str) -> dict[str, Any]:
    """The line that ``lfn`` of run ``uuid`` is complete at ``dest``."""
    return {
        "lfn": lfn,
        "dest": dest,
        **landed.as_noted(),
        "time": time.time(),
        "uuid": uuid,
    }


def read(path: str, uuid: str) -> dict[str, dict[str, Any]]:
    """LFN -> its last line, of run ``uuid`` only; torn lines are skipped."""
    return {
        entry["lfn"]: entry
        for entry in read_journal(path)
        if entry.get("uuid") == uuid and isinstance(entry.get("lfn"), str)
    }
