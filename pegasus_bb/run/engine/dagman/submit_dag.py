"""Hands a submit directory to HTCondor."""

from __future__ import annotations

import re
import shutil
from collections.abc import Set
from pathlib import Path
from typing import NamedTuple

from pegasus_bb.core.errors import RunFailed, UsageError
from pegasus_bb.core.process import ask
from pegasus_bb.model.dag.nodes import JOBSTATE_LOG, Dag
from pegasus_bb.run.engine.dagman.find import lock_of
from pegasus_bb.run.engine.dagman.queue import SUBMIT
from pegasus_bb.run.engine.rescue import read_rescue, write_rescue
from pegasus_bb.run.engine.submitdir import SubmitDir

_SECONDS = 120.0
_RUN = "pegasus-run"
_READ = 1 << 20
_LINES = 3
_QUOTED = 8
_BEGUN = b") STARTING UP"
_ENDED = re.compile(rb"\) pid \d+ EXITING WITH STATUS (\d+)$", re.MULTILINE)
_TELLING = ("ERROR", "Warning")
_STAMP = re.compile(r"^\S+ \S+ ")


def planner_home(place: SubmitDir) -> Path | None:
    """The bin folder of the Pegasus that planned ``place``; None for other planners."""
    try:
        noted = place.braindump()
        planner = Path(noted["planner"])
        folder = Path(noted["bindir"])
    except (UsageError, KeyError, TypeError):
        return None
    return folder if planner.name == "pegasus-plan" else None


def follow_problem(place: SubmitDir, dag: Dag) -> str:
    """Why a DAGMan on ``place`` could not be followed; empty where it could.

    Following needs a journal, and so does the next run.
    """
    home = planner_home(place)
    if home is not None:
        there = _pegasus_run(home)
        return "" if there else f"{_RUN} is neither in {home} nor on PATH"
    if any(line.split() == JOBSTATE_LOG.split() for line in dag.other):
        return ""
    return f"{place.dag.name} lacks the line {JOBSTATE_LOG}"


def submit(place: SubmitDir) -> str:
    """Submit the DAG; returns the tool's output. Raises RunFailed where it was refused.

    DAGMan continues from the newest rescue file, or from its lock and log. -force would
    remove these; -update_submit only writes <dag>.condor.sub.
    """
    home = planner_home(place)
    if home is not None:
        argv = [_pegasus_run(home) or _RUN, str(place.path)]
    else:
        argv = [SUBMIT, "-update_submit", place.dag.name]
    answer = ask(argv, timeout=_SECONDS, cwd=str(place.path))
    if answer.status != 0:
        answered = (answer.err + "\n" + answer.out).splitlines()
        lines = [line.rstrip() for line in answered if line.strip(" -")][-_QUOTED:]
        quoted = "\n".join(f"  | {line}" for line in lines)
        raise RunFailed(
            f"{place.path}: {argv[0]} ended with exit status {answer.status}, and "
            f"nothing runs:\n{quoted}"
        )
    return answer.out


def hand_over(place: SubmitDir, dag: Dag, done: Set[str]) -> Path | None:
    """Write a rescue file for the next DAGMan where the newest does not match ``done``:
    an engine could not write its own, or nodes are to run again. Returns the file."""
    known = {node.name for node in dag.nodes.values() if node.done}
    known |= read_rescue(place.last_rescue, dag)
    lock_of(place).unlink(missing_ok=True)  # the journal is more complete than its log
    if done == known:
        return None
    rescue = place.next_rescue()
    write_rescue(rescue, dag, place.dag.name, done, ())
    return rescue


def _pegasus_run(home: Path) -> str | None:
    return shutil.which(_RUN, path=str(home)) or shutil.which(_RUN)


class DAGManEnd(NamedTuple):
    """How the last DAGMan ended, by its log."""

    status: int | None  # its exit status; None: it did not end
    errors: tuple[str, ...]  # the last errors and warnings


def read_verdict(place: SubmitDir) -> DAGManEnd | None:
    """From <dag>.dagman.out; None where there is no such log.

    The exit status of pegasus-dagman, which pegasus-run wraps around DAGMan, is of no
    use: it is the bitwise AND of DAGMan's and monitord's, and 0 if DAGMan was killed.
    """
    try:
        with place.dag.with_name(f"{place.dag.name}.dagman.out").open("rb") as source:
            source.seek(max(0, source.seek(0, 2) - _READ))
            text = source.read()
    except OSError:
        return None
    own = text[text.rfind(_BEGUN) + 1 :]
    ended = _ENDED.findall(own)
    lines = (_STAMP.sub("", line) for line in own.decode(errors="replace").splitlines())
    errors = [line for line in lines if line.startswith(_TELLING)]
    return DAGManEnd(int(ended[-1]) if ended else None, tuple(errors[-_LINES:]))
