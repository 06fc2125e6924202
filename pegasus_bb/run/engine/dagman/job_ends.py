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
_EVENT = re.compile(r"(\d{3}) \((\d+)\.")
_NODE = re.compile(r"^[ \t]+DAG Node: (.+)$", re.MULTILINE)
_IN_SLURM = re.compile(r"^[ \t]+GridJobId:.*slurm/\d+/(\d+)", re.MULTILINE)
_SUBMITTED, _IN_GRID = "000", "027"
_END = b"...\n"  # of an event


class SlurmEnds:
    """Asks Slurm about jobs of one run. Reads the log of its DAGMan once, as far as it
    has come."""

    def __init__(self, place: SubmitDir) -> None:
        self._log = place.dag.with_name(f"{place.dag.name}.nodes.log")
        self._offset = 0
        self._job_of: dict[str, str] = {}  # node -> HTCondor's number of its last job
        self._number_of: dict[str, str] = {}  # that number -> Slurm's

    def why(self, node: str) -> str:
        """Why Slurm ended the last job of ``node``; empty if the job ended by itself,
        never was in Slurm, or is forgotten."""
        if shutil.which("scontrol") is None:
            return ""
        number = self.number(node)
        try:
            job = Slurm({}).job(number) if number else None
        except PegasusBBError:
            return ""
        if job is None or job.native not in _ENDS:
            return ""
        fields = {"TimeLimit": "not known", "NodeList": "not known", **job.fields}
        return f"Slurm ended its job {number} {_ENDS[job.native].format_map(fields)}"

    def number(self, node: str) -> str:
        """Slurm's number of the last job of ``node``; empty if there is none."""
        self._read()
        return self._number_of.get(self._job_of.get(node, ""), "")

    def _read(self) -> None:
        try:
            with self._log.open("rb") as log:
                log.seek(self._offset)
                whole, end, _ = log.read().rpartition(_END)
        except OSError:
            return
        self._offset += len(whole + end)
        for event in whole.split(_END):
            self._note(event.decode(errors="replace"))

    def _note(self, event: str) -> None:
        begins = _EVENT.match(event)
        if begins is None:
            return
        kind, job = begins.groups()
        if kind == _SUBMITTED and (node := _NODE.search(event)):
            self._job_of[node[1]] = job
        elif kind == _IN_GRID and (number := _IN_SLURM.search(event)):
            self._number_of[job] = number[1]
