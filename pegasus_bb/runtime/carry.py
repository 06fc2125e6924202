"""Copies of what a task has made, where other jobs look for it, before its job ends."""

from __future__ import annotations

import contextlib
import os
from typing import Dict, List, Mapping

from pegasus_bb.paths import cut_name
from pegasus_bb.removal import remove
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.files import write_text
from pegasus_bb.runtime.links import checked_path
from pegasus_bb.staging.folder import copy_path
from pegasus_bb.staging.parts import parts_in


def forget(bb: BBDir, node: str) -> None:
    """What an older try has copied is not what this one makes. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(bb.file(f"carried/{node}"))


def carry_of(bb: BBDir, node: str, made: str, vanishing: str = "") -> None:
    """``carry`` for ``node``, and a note that it is done: bb_delete keeps everything
    until all are. Raises as that does."""
    copies = bb.carried(node)
    if copies:
        carry(copies, made, vanishing)
        os.makedirs(bb.file("carried"), exist_ok=True)
        write_text(bb.file(f"carried/{node}"), "")


def carry(copies: Mapping[str, str], made: str, vanishing: str = "") -> None:
    """Copy each LFN of ``copies`` from folder ``made`` to its path there, in the place
    of any older try's; durable and whole when it has its name.

    ``vanishing``: a folder that no link among them may need afterwards. Raises OSError,
    CopyFailed, UsageError.
    """
    left: Dict[str, Dict[bytes, List[str]]] = {}
    for lfn, dest in copies.items():
        folder = os.path.dirname(dest)
        if folder not in left:
            os.makedirs(folder, exist_ok=True)
            left[folder] = parts_in(folder)
        for part in left[folder].pop(cut_name(dest), []):  # of a try that was killed
            remove(part)
        gone = (vanishing,) if vanishing else ()
        copy_path(
            checked_path(made, lfn), dest, digest=False, replace=True, vanishing=gone
        )
