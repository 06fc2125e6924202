"""Which node makes which file and which nodes read it, from a submit directory."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from pegasus_bb.dag.nodes import Node
from pegasus_bb.dag.roles import Role, of_role, role_of
from pegasus_bb.engine.submitdir import SubmitDir
from pegasus_bb.model.document import load_value
from pegasus_bb.runtime.transfers.jobs import Transfer, read_jobs

_JOB_ID = re.compile(r'^\+pegasus_wf_dax_job_id = "(.*)"$', re.MULTILINE)
_CLUSTERED = re.compile(r" -N (\S+) ")  # each line of a cluster starts a Kickstart


class Dataflow:
    """Reads nothing before it is asked. Raises CatalogError, OSError, ValueError."""

    def __init__(self, place: SubmitDir, nodes: Mapping[str, Node]) -> None:
        self._place, self._nodes = place, nodes

    def inputs(self, name: str) -> list[str]:
        """The LFNs that the node reads."""
        if role_of(name) is Role.STAGE_OUT:
            return self._transferred(name)
        uses = (use for job in self._jobs_of(name) for use in self._uses(job))
        return [use["lfn"] for use in uses if use.get("type") == "input"]

    def maker(self, lfn: str) -> str:
        """The node that makes ``lfn``, or stages it in; empty where none does."""
        job = self._job_that_makes.get(lfn)
        if job is not None:
            return self._node_of_job(job)
        stage_ins = of_role(self._nodes, Role.STAGE_IN)
        return next((n for n in stage_ins if lfn in self._transferred(n)), "")

    @cached_property
    def _uses_of(self) -> dict[str, list[dict[str, Any]]]:
        workflow, _ = load_value(self._place.workflow, {})
        return {str(job["id"]): job.get("uses") or [] for job in workflow["jobs"]}

    def _uses(self, job: str) -> list[dict[str, Any]]:
        return self._uses_of.get(job, [])

    @cached_property
    def _job_that_makes(self) -> dict[str, str]:
        return {
            use["lfn"]: job
            for job, uses in self._uses_of.items()
            for use in uses
            if use.get("type") == "output"
        }

    def _node_of_job(self, job: str) -> str:
        likely = [name for name in self._nodes if name.endswith(f"_{job}")]
        candidates = (*likely, *of_role(self._nodes, Role.CLUSTER))
        return next((name for name in candidates if job in self._jobs_of(name)), "")

    def _jobs_of(self, name: str) -> list[str]:
        """The jobs of the workflow that the node runs."""
        if role_of(name) is Role.CLUSTER:
            return _CLUSTERED.findall(_text(self._file(name).with_suffix(".in")))
        return _JOB_ID.findall(_text(self._file(name)))

    def _transferred(self, name: str) -> list[str]:
        jobs = read_jobs(_text(self._file(name).with_suffix(".in")))
        return [job.lfn for job in jobs if isinstance(job, Transfer)]

    def _file(self, name: str) -> Path:
        node = self._nodes[name]
        return node.file(self._place.path)


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="surrogateescape")
