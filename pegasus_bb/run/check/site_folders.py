"""Folders of a site's staging service: owners and modes. Root sees them on its host."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from pegasus_bb.model.finding import Finding, wrong
from pegasus_bb.stager.ownership import why_not_private, why_open
from pegasus_bb.stager.site_config import Config
from pegasus_bb.stager.slurm.spool import folders_of


def of_folders(config: Config) -> Iterator[Finding]:
    """What the service would refuse at its next start, and what keeps the hooks from
    telling it anything. Nothing where the folders cannot be seen."""
    try:
        service = Path(config.state).stat().st_uid
    except OSError:
        return  # it was never started here
    slurm = config.slurm
    if slurm and service != slurm.uid:
        service = 0
    pools = [os.path.realpath(pool.path) for pool in slurm.pools] if slurm else []
    for folder in (config.state, config.sockets, *pools):
        yield from _of_own(why_open, folder, service)
    yield from _of_own(why_not_private, config.state, service)
    for folder in folders_of(slurm.spool) if slurm else ():
        yield from _of_spool(folder, slurm.uid if slurm else 0)


def _of_own(
    why_not: Callable[[str, int], str], folder: str, uid: int
) -> Iterator[Finding]:
    try:
        why = why_not(folder, uid)
    except OSError:
        return
    if why:
        what, _, mend = why.partition("; fix: ")
        yield wrong("service", what, mend)


def _of_spool(folder: str, uid: int) -> Iterator[Finding]:
    try:
        found = Path(folder).stat()
    except OSError:
        return
    mode = stat.S_IMODE(found.st_mode)
    if (found.st_uid, mode) != (uid, 0o700):
        yield wrong(
            "service",
            f"{folder} belongs to user {found.st_uid} and has mode {mode:04o}, not to "
            f"SlurmUser ({uid}) with 0700: the hooks cannot use it",
            "start the service again: it sets both",
        )
