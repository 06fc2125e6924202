"""Copies what a task has made to where other jobs look for it, before its job ends."""

from __future__ import annotations

import os
from typing import Dict, List, Mapping

from pegasus_bb.paths import cut_name
from pegasus_bb.removal import remove
from pegasus_bb.runtime.links import checked_path
from pegasus_bb.staging.folder import copy_path
from pegasus_bb.staging.parts import parts_in


def copy_back(copies: Mapping[str, str], made: str, vanishing: str) -> None:
    """Copy each LFN of ``copies`` from folder ``made`` to the path that stands there.

    A copy gets its name once it is whole and durable, and replaces that of an older
    try. No link among them may lead into ``vanishing``, a folder that goes with the
    job. Raises OSError, CopyFailed, UsageError.
    """
    left: Dict[str, Dict[bytes, List[str]]] = {}
    for lfn, dest in copies.items():
        folder = os.path.dirname(dest)
        if folder not in left:
            os.makedirs(folder, exist_ok=True)
            left[folder] = parts_in(folder)
        for part in left[folder].pop(cut_name(dest), []):  # of a try that was killed
            remove(part)
        source = checked_path(made, lfn)
        copy_path(source, dest, digest=False, replace=True, vanishing=(vanishing,))
