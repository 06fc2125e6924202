"""Which jobs work on the PFS because their tier is full.

A note for each, durable before its task starts; a later try of the node begins without.
`pegasus-bb status` and `report` read them.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from typing import Iterator

from pegasus_bb.removal import remove
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.files import write_json
from pegasus_bb.runtime.job_reservation.discard import discard

FOLDER = "elsewhere"  # in bb/
_ROOM = ".room"


def note(bb: BBDir, node: str, job: str, because: str) -> None:
    """Say that this try of ``node`` works on the PFS. Raises OSError: what cannot be
    noted is not done in silence."""
    os.makedirs(bb.file(FOLDER), exist_ok=True)
    said = {
        "version": 1,
        "node": node,
        "job": job,
        "because": because,
        "host": socket.gethostname(),
        "time": time.time(),
    }
    write_json(bb.file(f"{FOLDER}/{node}.json"), said)


@contextlib.contextmanager
def folder(landing: str) -> Iterator[str]:
    """Where such a job works, beside where its results arrive; gone afterwards."""
    base = f"{landing}{_ROOM}"
    remove(base)  # of this very try, killed and started again
    try:
        yield base
    finally:
        discard(base)


def discard_older(landing: str) -> None:
    """Remove what tries of that node before this one have left beside ``landing``:
    killed or failed, they made nothing that anybody will look for."""
    tries, this = os.path.split(landing)
    with contextlib.suppress(FileNotFoundError):
        for name in os.listdir(tries):
            if name not in (this, f"{this}{_ROOM}"):
                discard(os.path.join(tries, name))


def forget(bb: BBDir, node: str) -> None:
    """Where an older try was says nothing of this one. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(bb.file(f"{FOLDER}/{node}.json"))
