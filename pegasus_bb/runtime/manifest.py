"""manifest.jsonl: a line per promised result that reached its destination."""

from __future__ import annotations

import os
import time
from typing import Any, Dict, List

from pegasus_bb.runtime.files import append_json, read_journal
from pegasus_bb.staging.onefile import Copied


def stamp(found: os.stat_result) -> List[int]:
    """What changes when a file does; programs can set back mtime, but not ctime."""
    return [found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns]


def append(path: str, lfn: str, dest: str, copied: Copied, uuid: str) -> None:
    """Note that ``lfn`` of run ``uuid`` is whole at ``dest``; durable on return."""
    found = copied.stat
    append_json(
        path,
        {
            "lfn": lfn,
            "dest": dest,
            "size": copied.size,
            "digest": copied.digest,
            "stat": stamp(found),
            "time": time.time(),
            "uuid": uuid,
        },
    )


def read(path: str, uuid: str) -> Dict[str, Dict[str, Any]]:
    """LFN -> its last line, of run ``uuid`` only; torn lines are skipped."""
    return {
        entry["lfn"]: entry
        for entry in read_journal(path)
        if entry.get("uuid") == uuid and isinstance(entry.get("lfn"), str)
    }
