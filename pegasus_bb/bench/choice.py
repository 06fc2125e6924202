"""ior where it is installed and runs; else our own engine. Either way, why."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass
from shutil import which

from pegasus_bb.bench.engine import Engine, TimeIsUp
from pegasus_bb.bench.ior import COUNT, PROGRAM, Ior
from pegasus_bb.bench.own import COMMAND, Own
from pegasus_bb.bench.plan import PAGE, Cell, Layout, Mode
from pegasus_bb.errors import NotMeasured, UsageError
from pegasus_bb.removal import remove

ENGINES = ("auto", "ior", "own")
_TRIAL = 60.0  # seconds


@dataclass(frozen=True, slots=True)
class Chosen:
    """An engine, and what a reader of its figures has to know of it."""

    name: str  # own | ior, the latter with its version
    engine: Engine
    because: str
    command: str  # that starts its processes


def choose(
    wanted: str, launch: tuple[str, ...], processes: int, folder: str, until: float
) -> Chosen:
    """The engine that is ``wanted``, tried out in ``folder`` with all ``processes``.

    Most of the time ``until`` then is left for measuring.
    Raises NotMeasured where it does not run, and UsageError where it is not there.
    """
    if wanted == "own":
        return _own(processes, "--engine own")
    why_not = _missing(launch)
    if why_not:
        if wanted == "ior":
            raise UsageError(f"--engine ior: {why_not}; --engine own needs neither")
        return _own(processes, why_not)
    try:
        return _ior(launch, processes, folder, until)
    except NotMeasured as error:
        if wanted == "ior":
            raise
        return _own(processes, f"ior does not run here: {error}")


def launcher(given: str | None, environ: Mapping[str, str]) -> tuple[str, ...]:
    """What starts MPI processes: ``given``, or what is there; empty where nothing is.

    Raises UsageError.
    """
    if given is None:
        if environ.get("SLURM_JOB_ID") and which("srun"):
            return ("srun", "-n", COUNT)  # on all nodes of the job
        found = next((name for name in ("mpiexec", "mpirun") if which(name)), None)
        return (found, "-n", COUNT) if found else ()
    try:
        words = tuple(shlex.split(given))
    except ValueError as error:
        raise UsageError(f"--launcher {given!r}: {error}") from error
    if not any(COUNT in word for word in words):
        raise UsageError(
            f"--launcher {given!r}: {COUNT} has to stand where the number of processes "
            f"goes, such as mpirun -np {COUNT}"
        )
    return words


def _missing(launch: tuple[str, ...]) -> str:
    if which(PROGRAM) is None:
        return "no ior on PATH"
    return "" if launch else "ior is there, but no srun, mpiexec or mpirun to start it"


def _own(processes: int, because: str) -> Chosen:
    return Chosen("own", Own(processes), because, shlex.join(COMMAND))


def _ior(launch: tuple[str, ...], processes: int, folder: str, until: float) -> Chosen:
    """Raises NotMeasured where one page by each process is too much for it already."""
    engine, now = Ior(launch), time.monotonic()
    longest = max(0.0, min(_TRIAL, (until - now) / 3))
    cell = Cell(Mode.FSYNC, Layout.SHARED, PAGE, processes, PAGE)
    trial = os.path.join(folder, "trial")
    try:
        os.mkdir(trial)
        engine.write(cell, trial, now + longest)
    except TimeIsUp:
        raise NotMeasured(f"no end of a trial within {longest:.0f} s") from None
    except OSError as error:
        raise NotMeasured(str(error)) from error
    finally:
        remove(trial)
    name, found = f"ior {engine.version}".strip(), which(PROGRAM)
    return Chosen(name, engine, str(found), shlex.join([*launch, PROGRAM]))
