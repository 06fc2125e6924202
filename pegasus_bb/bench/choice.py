"""Choose the engine: ior if it is installed and runs, else our own processes."""

from __future__ import annotations

import os
import time
from shutil import which

from pegasus_bb.bench.engine import Engine, TimeIsUp
from pegasus_bb.bench.ior import COUNT, PROGRAM, Ior
from pegasus_bb.bench.own import Own
from pegasus_bb.bench.plan import Cell
from pegasus_bb.errors import NotMeasured
from pegasus_bb.removal import remove

_TRIAL = 60.0  # seconds
_BLOCK = 4096  # bytes of each process in the trial


def choose(processes: int, folder: str, until: float) -> Engine:
    """An engine for so many ``processes``; a trial of ior happens in ``folder``.

    The trial leaves most of the time ``until`` then for measuring.
    """
    if which(PROGRAM) is None:
        return Own(processes, "no ior on PATH")
    launch = launcher()
    if not launch:
        why = "ior is there, but no srun, mpiexec or mpirun to start it"
        return Own(processes, why)
    engine = Ior(launch)
    try:
        _try(engine, processes, folder, until)
    except NotMeasured as error:
        return Own(processes, f"ior does not run here: {error}")
    return engine


def launcher() -> tuple[str, ...]:
    """The command that starts MPI processes; empty if there is none."""
    if os.environ.get("SLURM_JOB_ID") and which("srun"):
        return ("srun", "-n", COUNT)  # on all nodes of the job
    found = next((name for name in ("mpiexec", "mpirun") if which(name)), None)
    return (found, "-n", COUNT) if found else ()


def _try(engine: Ior, processes: int, folder: str, until: float) -> None:
    """Raises NotMeasured if ior cannot write a page from each process."""
    trial, now = os.path.join(folder, "trial"), time.monotonic()
    longest = max(0.0, min(_TRIAL, (until - now) / 3))
    try:
        os.mkdir(trial)
        engine.write(Cell(_BLOCK, processes), trial, now + longest)
    except TimeIsUp:
        raise NotMeasured(f"a trial did not end within {longest:.0f} s") from None
    except OSError as error:
        raise NotMeasured(str(error)) from error
    finally:
        remove(trial)
