"""bb/load.json: how busy this machine was when the local engine began.

Times of a run on a busy machine are those of others, too; `pegasus-bb report` says so.
"""

from __future__ import annotations

import contextlib
import os

from pegasus_bb.core.files import write_json
from pegasus_bb.run.engine.submitdir import SubmitDir

LOAD = "load.json"


def note_load(place: SubmitDir) -> None:
    """Write the load averages over 1, 5 and 15 minutes, and the processors."""
    if not place.bb.is_dir():
        return
    load = [round(value, 2) for value in os.getloadavg()]
    cores = len(os.sched_getaffinity(0))
    with contextlib.suppress(OSError):  # a full disk stops the run in its own words
        write_json(str(place.bb / LOAD), {"load": load, "cores": cores})
