"""Hands a submit directory to HTCondor."""

from __future__ import annotations

import re
import shutil
from collections.abc import Set
from pathlib import Path
from typing import NamedTuple

from pegasus_bb.dag.nodes import JOBSTATE_LOG, Dag
from pegasus_bb.engine.dagman.find import lock_of
from pegasus_bb.engine.dagman.queue import SUBMIT
from pegasus_bb.engine.rescue import read_rescue, write_rescue
from pegasus_bb.engine.submitdir import SubmitDir
from pegasus_bb.errors import RunFailed, UsageError
from pegasus_bb.process import ask

_SECONDS = 120.0
_RUN = "pegasus-run"
_READ = 1 << 20
_LINES, _QUOTED = 3, 8
_BEGUN = b") STARTING UP"
_ENDED = re.compile(rb"\) pid \d+ EXITING WITH STATUS (\d+)$", re.MULTILINE)
_TELLING = ("ERROR", "Warning")
_STAMP = re.compile(r"^\S+ \S+ ")


def planner_home(place: SubmitDir) -> Path | None:
    """The bin folder of the Pegasus that planned ``place``; None: we did, or a hand."""
    try:
        noted = place.braindump()
        planner, folder = Path(noted["planner"]), Path(noted["bindir"])
    except (UsageError, KeyError, TypeError):
        return None
    return folder if planner.name == "pegasus-plan" else None


def why_not_followed(place: SubmitDir, dag: Dag) -> str:
    """Why a DAGMan could not be followed on ``place``; empty where it could.

    Its journal is what tells, here and to the next run.
    """
    home = planner_home(place)
    if home is not None:
        there = _pegasus_run(home)
        return "" if there else f"{_RUN} is neither in {home} nor on PATH"
    if any(line.split() == JOBSTATE_LOG.split() for line in dag.other):
        return ""
    return f"{place.dag.name} lacks the line {JOBSTATE_LOG}"


def submit(place: SubmitDir) -> str:
    """Submit the DAG; what the tool said. Raises RunFailed where it was refused.

    It goes on from the newest rescue file, or from DAGMan's own lock and log. Never
    with -force, which throws those away: -update_submit only writes <dag>.condor.sub.
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
    """Let the next DAGMan know what is done, where the newest rescue file does not say
    so: an engine could not write its own, or nodes are to run again. Gives back the
    one that was written."""
    known = {node.name for node in dag.nodes.values() if node.done}
    known |= read_rescue(place.last_rescue, dag)
    lock_of(place).unlink(missing_ok=True)  # its log knows less than the journal
    if done == known:
        return None
    rescue = place.next_rescue()
    write_rescue(rescue, dag, place.dag.name, done, ())
    return rescue


def _pegasus_run(home: Path) -> str | None:
    return shutil.which(_RUN, path=str(home)) or shutil.which(_RUN)


class Verdict(NamedTuple):
    """What the log says of the last DAGMan."""

    status: int | None  # its exit status; None: it did not come to an end
    errors: tuple[str, ...]  # the last errors and warnings


def read_verdict(place: SubmitDir) -> Verdict | None:
    """From <dag>.dagman.out; None where there is no such log.

    The exit status of pegasus-dagman, which pegasus-run puts around DAGMan, does not
    tell: it is DAGMan's AND monitord's, bit by bit, and 0 where DAGMan was killed.
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
    return Verdict(int(ended[-1]) if ended else None, tuple(errors[-_LINES:]))
