"""The file of directives with which every job of the site is submitted.

For datawarp, `--bbf=<submit>/bb/use.bbf` names the reservation. A run that goes on on
the PFS must not: Slurm would let its jobs wait for the buffer for ever.
"""

from __future__ import annotations

import contextlib
import os

from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.files import write_text

USE = "use.bbf"
KEPT = "use.bbf.planned"  # as planning wrote it, while the run is on the PFS
NONE = "# no burst buffer: this run is on the PFS (storage_decision.json says why)\n"


def name_no_buffer(bb: BBDir) -> None:
    """From now on no job that is submitted asks for it; again changes nothing."""
    if not os.path.exists(bb.file(USE)):
        return
    with open(bb.file(USE), encoding="utf-8") as source:
        if source.read() == NONE:
            return
    with contextlib.suppress(FileExistsError):  # killed in between, or two at once
        os.link(bb.file(USE), bb.file(KEPT))
    write_text(bb.file(USE), NONE)


def name_the_buffer(bb: BBDir) -> None:
    """As it was planned: a run that started over has its reservation after all."""
    if os.path.exists(bb.file(KEPT)):
        os.replace(bb.file(KEPT), bb.file(USE))
