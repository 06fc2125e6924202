"""Queries the schedd of this machine."""

from __future__ import annotations

import os
import re
import shutil
import socket
from collections.abc import Sequence
from pathlib import Path

from pegasus_bb.core.errors import SchedulerUnreachable
from pegasus_bb.core.process import Finished, ask

SUBMIT = "condor_submit_dag"
_QUEUE = "condor_q"
_HELD = "5"
_SLURM_JOB = re.compile(r"slurm/\d+/(\d+)")  # in GridJobId
_SECONDS = 30.0


def submit_problem() -> str:
    """Why nothing can be submitted from here; empty where it can."""
    for tool in (SUBMIT, _QUEUE):
        if shutil.which(tool) is None:
            return f"{tool} is not on PATH"
    if os.geteuid() == 0:
        return "HTCondor takes no jobs of root"
    answer = _ask(["-constraint", "false", "-af", "ClusterId"])
    return "" if answer.status == 0 else f"no schedd answers ({_first_line(answer)})"


def held(cluster: int) -> str | None:
    """Why the job is held, empty where it is not; None where there is no such job.

    Raises SchedulerUnreachable where the schedd does not answer.
    """
    for status, *reason in _rows([str(cluster)], "JobStatus", "HoldReason"):
        return (" ".join(reason) or "no reason given") if status == _HELD else ""
    return None


def jobs_of(cluster: int) -> list[str]:
    """Node jobs of the DAGMan ``cluster`` that are still in the queue.

    Raises SchedulerUnreachable.
    """
    constraint = ["-constraint", f"DAGManJobId == {cluster}"]
    return [row[0] for row in _rows(constraint, "ClusterId")]


def slurm_jobs_of(cluster: int) -> dict[str, str]:
    """Slurm's number -> node, of node jobs of the DAGMan ``cluster`` in Slurm.

    Raises SchedulerUnreachable.
    """
    constraint = ["-constraint", f"DAGManJobId == {cluster}"]
    rows = _rows(constraint, "DAGNodeName", "GridJobId")
    found = ((row[0], _SLURM_JOB.search(row[-1])) for row in rows)
    return {number[1]: node for node, number in found if number}


def idle_in_pool(cluster: int) -> list[tuple[str, str, int]]:
    """Node, number, and KiB of disk that it asks for, of each idle job of the DAGMan
    ``cluster`` that goes to the pool.

    Raises SchedulerUnreachable.
    """
    idle = f"DAGManJobId == {cluster} && JobStatus == 1 && JobUniverse == 5"
    rows = _rows(["-constraint", idle], "DAGNodeName", "ClusterId", "RequestDisk")
    return [(node, job, int(kib)) for node, job, kib in rows if kib.isdigit()]


def largest_disk(enough: int = 0) -> int:
    """KiB of the slot of the pool that has most; 0 if that is not known.

    One that has ``enough`` will do: a large pool is not asked for all its slots.
    """
    one = ["-limit", "1", "-constraint", f"TotalSlotDisk >= {enough}"]
    return (enough and _most_disk(one)) or _most_disk([])


def _most_disk(which: Sequence[str]) -> int:
    words = ["condor_status", *which, "-af", "TotalSlotDisk"]
    answer = ask(words, timeout=_SECONDS)
    sizes = answer.out.split() if answer.status == 0 else []
    return max((int(float(size)) for size in sizes if size[:1].isdigit()), default=0)


def dagmans_logging_to(log: Path) -> list[str]:
    """DAGMans in the queue whose user log is ``log``, whether it names them or not.

    Raises SchedulerUnreachable.
    """
    quoted = str(log).replace("\\", "\\\\").replace('"', '\\"')
    constraint = ["-constraint", f'JobUniverse == 7 && UserLog == "{quoted}"']
    return [row[0] for row in _rows(constraint, "ClusterId")]


def remove(cluster: int) -> None:
    ask(["condor_rm", str(cluster)], timeout=_SECONDS)


def is_here(host: str) -> bool:
    """Whether the local schedd is the one on ``host``; True where ``host`` is empty."""
    if not host:
        return True
    names = {socket.gethostname(), socket.getfqdn()}
    if _short_name(host) in map(_short_name, names):
        return True
    answer = ask(["condor_config_val", "SCHEDD_HOST"], timeout=_SECONDS)
    return answer.status == 0 and _short_name(answer.out) == _short_name(host)


def _short_name(host: str) -> str:
    return host.strip().split(".")[0].lower()


def _rows(which: Sequence[str], *attributes: str) -> list[list[str]]:
    """One row per job; values as text, empty where undefined."""
    answer = _ask([*which, "-af:t", *attributes])
    if answer.status != 0:
        raise SchedulerUnreachable(
            f"the schedd gives no answer ({_first_line(answer)}); try again later"
        )
    rows = (line.split("\t") for line in answer.out.splitlines() if line.strip())
    return [["" if word == "undefined" else word for word in row] for row in rows]


def _ask(arguments: Sequence[str]) -> Finished:
    return ask([_QUEUE, *arguments], timeout=_SECONDS)


def _first_line(answer: Finished) -> str:
    lines = [line.strip() for line in (answer.err or answer.out).splitlines()]
    return next((line for line in lines if line), f"exit status {answer.status}")[:200]
