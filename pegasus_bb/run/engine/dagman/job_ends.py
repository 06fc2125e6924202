"""Why Slurm ended the job of a failed node, as long as Slurm remembers that job."""

from __future__ import annotations

import re
import shutil

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.run.engine.submitdir import SubmitDir
from pegasus_bb.runtime.backends.slurm import Slurm

# A job's state in Slurm, if Slurm has ended it -> why, and what would do.
_ENDS = {
    "TIMEOUT": "at its time limit, {TimeLimit}; the profile runtime of namespace "
    "pegasus, in seconds, asks for more in a new plan",
    "OUT_OF_MEMORY": "at its memory limit; the profile memory of namespace pegasus, in "
    "MB, asks for more in a new plan",
    "NODE_FAIL": "with its node, {NodeList}, which failed",
    "PREEMPTED": "for a job of higher priority",
    "CANCELLED": "by scancel",
}
_SUBMITTED = r"^000 \((\d+)\.[^\n]*\n(?:[ \t][^\n]*\n)*?[ \t]+DAG Node: {}\n"
_IN_SLURM = (
    r"^027 \({}\.[^\n]*\n(?:[ \t][^\n]*\n)*?[ \t]+GridJobId:[^\n]*slurm/\d+/(\d+)"
)


def slurm_end(node: str, place: SubmitDir) -> str:
    """Why Slurm ended the last job of ``node``; empty if the job ended by itself, never
    was in Slurm, or is forgotten."""
    number = slurm_number(node, place)
    if not number or shutil.which("scontrol") is None:
        return ""
    try:
        job = Slurm({}).job(number)
    except PegasusBBError:
        return ""
    if job is None or job.native not in _ENDS:
        return ""
    fields = {"TimeLimit": "not known", "NodeList": "not known", **job.fields}
    return f"Slurm ended its job {number} {_ENDS[job.native].format_map(fields)}"


def slurm_number(node: str, place: SubmitDir) -> str:
    """Slurm's number of the last job of ``node``, from the log that DAGMan reads; empty
    if there is none."""
    log = place.dag.with_name(f"{place.dag.name}.nodes.log")
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    jobs = re.findall(_SUBMITTED.format(re.escape(node)), text, re.MULTILINE)
    if not jobs:
        return ""
    found = re.findall(_IN_SLURM.format(jobs[-1]), text, re.MULTILINE)
    return found[-1] if found else ""
