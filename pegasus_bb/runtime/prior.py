"""The run's folder on the PFS, for jobs before the reservation is asked for.

create_dir, which makes it for all others, waits for the reservation.
"""

from __future__ import annotations

import os

from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.links import checked_path
from pegasus_bb.runtime.scratch_root import Roots


def make_place(bb: BBDir, root: str) -> None:
    """Make ``root``, and in it the folders of all files; where they are already, that
    is well. Raises OSError and UsageError."""
    Roots(bb.request().uuid, [root]).make(root)
    files = bb.placement()["files"]
    for folder in {os.path.dirname(lfn) for lfn in files if "/" in lfn}:
        os.makedirs(checked_path(root, folder), exist_ok=True)
