"""bb/absent/<node>.json: which files were not on the tier when a job failed.

The submit host may not see the tier, and `pegasus-bb run` asks which input was lost.
"""

from __future__ import annotations

import contextlib
import os

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import UNREADABLE, read_json, unlink_if_there, write_json
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.bind import Binding

_MOST = 100_000  # names; so many take a second


def note_absent(bb: BBDir, binding: Binding, node: str) -> None:
    """Note which files of placement.json the job of ``node`` did not find on the tier.

    The job has failed in any case, so nothing is raised.
    """
    try:
        placement = bb.placement()
    except UsageError:
        return
    scratch = binding.text(str(placement.get("scratch", "")))
    names = list(placement["files"])
    if not node or "/" in node or not scratch or len(names) > _MOST:
        return
    absent = [n for n in names if not os.path.exists(os.path.join(scratch, n))]
    with contextlib.suppress(OSError):
        os.makedirs(bb.file("absent"), exist_ok=True)
        write_json(_note(bb, node), {"files": absent})


def absent_files(bb: BBDir, node: str) -> frozenset[str]:
    try:
        return frozenset(read_json(_note(bb, node))["files"])
    except UNREADABLE:
        return frozenset()


def forget_absent(bb: BBDir, node: str) -> None:
    unlink_if_there(_note(bb, node))


def _note(bb: BBDir, node: str) -> str:
    return bb.file(f"absent/{node}.json")
