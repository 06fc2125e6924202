"""Which engine runs a submit directory, and why."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from pegasus_bb.dag.reader import read_dag
from pegasus_bb.engine.dagman import queue
from pegasus_bb.engine.dagman.find import Found, check_alone, find, log_of
from pegasus_bb.engine.dagman.submit import why_not_followed
from pegasus_bb.engine.journal import read_history
from pegasus_bb.engine.submitdir import SubmitDir
from pegasus_bb.errors import UsageError

LOCAL, DAGMAN, AUTO = "local", "dagman", "auto"
ENGINES = (AUTO, LOCAL, DAGMAN)


class Choice(NamedTuple):
    engine: str
    why: str


def choose_engine(place: SubmitDir, wish: str, restart: bool = False) -> Choice:
    """DAGMan where a schedd takes jobs, else the local one, unless ``wish`` says.

    What one engine has begun and not ended, ``auto`` leaves to that one. Raises
    UsageError and SchedulerUnreachable where that cannot be.
    """
    if wish != AUTO:
        return Choice(wish, "--engine")
    found = find(place)
    if found is not None and found.alive:
        return Choice(DAGMAN, f"it works on it already, as job {found.life.cluster}")
    if found is not None:
        check_alone(place)
    begun = "" if restart else _begun_by(place, found)
    if begun == LOCAL:
        return Choice(LOCAL, "it began this run; --engine dagman hands it over")
    problem = queue.why_not() or why_not_followed(place, read_dag(place.dag))
    if not problem:
        return Choice(
            DAGMAN, "it began this run" if begun else "a schedd takes jobs here"
        )
    if begun:
        raise UsageError(
            f"{place.path}: begun under DAGMan, and here {problem}; --engine local "
            "takes it over from what DAGMan has noted"
        )
    return Choice(LOCAL, problem)


def _begun_by(place: SubmitDir, found: Found | None) -> str:
    """Who worked on it last and did not end it; empty where it has not begun, too."""
    if read_history(place.journal).finished == 0:
        return ""
    local = _age(place.processes)
    if found is not None and _age(log_of(place)) >= local:
        return DAGMAN
    return LOCAL if local else ""


def _age(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0
