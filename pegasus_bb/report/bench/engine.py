"""What measures: ior if it is installed and runs, else our own processes."""

from __future__ import annotations

import os
from shutil import which
from typing import Protocol

from pegasus_bb.core.errors import NotMeasured
from pegasus_bb.report.bench.built_in_engine import Own
from pegasus_bb.report.bench.cells import Cell
from pegasus_bb.report.bench.ior import COUNT, PROGRAM, Ior


class Engine(Protocol):
    """Runs one phase of a cell in an empty folder, with all processes at once.

    A phase lasts from the first open to the last close. Raises NotMeasured with the
    process that failed.
    """

    name: str  # own | ior VERSION
    because: str  # why this one measures

    def write(self, cell: Cell, folder: str) -> float:
        """Seconds for writing, until the data is on the storage."""

    def read(self, cell: Cell, folder: str) -> float:
        """Seconds for reading what ``write`` has written."""

    def close(self) -> None:
        """End all processes. A second call does nothing."""


def choose(processes: int, folder: str) -> Engine:
    """An engine for so many ``processes``; a trial of ior happens in ``folder``."""
    if which(PROGRAM) is None:
        return Own(processes, "no ior on PATH")
    launch = launcher()
    if not launch:
        why = "ior is there, but no srun, mpiexec or mpirun to start it"
        return Own(processes, why)
    engine = Ior(launch)
    try:
        engine.trial(processes, folder)
    except NotMeasured as error:
        return Own(processes, f"ior does not run here: {error}")
    return engine


def launcher() -> tuple[str, ...]:
    """The command that starts MPI processes; empty if there is none."""
    if os.environ.get("SLURM_JOB_ID") and which("srun"):
        return ("srun", "-n", COUNT)  # on all nodes of the job
    found = next((name for name in ("mpiexec", "mpirun") if which(name)), None)
    return (found, "-n", COUNT) if found else ()
