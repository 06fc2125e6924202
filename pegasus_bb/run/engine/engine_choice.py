"""Which engine runs a submit directory, and why."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from pegasus_bb.core.errors import UsageError
from pegasus_bb.model.dag.reader import read_dag
from pegasus_bb.run.engine.dagman import queue
from pegasus_bb.run.engine.dagman.find import Found, check_no_dagman, find, log_of
from pegasus_bb.run.engine.dagman.submit_dag import follow_problem
from pegasus_bb.run.engine.jobstate_log import read_history
from pegasus_bb.run.engine.submitdir import SubmitDir

LOCAL = "local"
DAGMAN = "dagman"
AUTO = "auto"
ENGINES = (AUTO, LOCAL, DAGMAN)


class EngineChoice(NamedTuple):
    engine: str
    why: str


def choose_engine(
    place: SubmitDir, wish: str, *, restart: bool = False
) -> EngineChoice:
    """Choose ``wish``, or for ``auto`` DAGMan where a schedd takes jobs, else local.

    ``auto`` keeps an unfinished run with the engine that began it. Raises UsageError
    and SchedulerUnreachable where that engine cannot continue it.
    """
    if wish != AUTO:
        return EngineChoice(wish, "--engine")
    found = find(place)
    if found is not None and found.alive:
        return EngineChoice(
            DAGMAN, f"it works on it already, as job {found.life.cluster}"
        )
    if found is not None:
        check_no_dagman(place)
    begun = "" if restart else _unfinished_engine(place, found)
    if begun == LOCAL:
        return EngineChoice(LOCAL, "it began this run; --engine dagman hands it over")
    problem = queue.submit_problem() or follow_problem(place, read_dag(place.dag))
    if not problem:
        return EngineChoice(
            DAGMAN, "it began this run" if begun else "a schedd takes jobs here"
        )
    if begun:
        raise UsageError(
            f"{place.path}: begun under DAGMan, and here {problem}; --engine local "
            "takes it over from what DAGMan has noted"
        )
    return EngineChoice(LOCAL, problem)


def _unfinished_engine(place: SubmitDir, found: Found | None) -> str:
    """The engine of an unfinished run; empty where the run has ended or not begun."""
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
