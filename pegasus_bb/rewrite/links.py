"""Which links a job needs before it starts: those of files that it writes to the PFS.

Links of inputs are made by stage_in; a reader finds the link that the writer left.
"""

from __future__ import annotations

from pegasus_bb.model.placement import PFS, Placement
from pegasus_bb.model.workflow import Workflow


def links(
    workflow: Workflow, placement: Placement, pfs_scratch: str
) -> dict[str, dict[str, str]]:
    """Job id -> LFN -> path below ``pfs_scratch``; only jobs that need links."""
    wanted = {
        file.lfn
        for file in placement.files.values()
        if file.tier == PFS and file.how == "write"
    }
    if not wanted:
        return {}
    found: dict[str, dict[str, str]] = {}
    for job in workflow.jobs.values():
        for use in job.uses:
            if use.kind != "input" and use.lfn in wanted:
                path = f"{pfs_scratch.rstrip('/')}/{use.lfn}"
                found.setdefault(job.id, {})[use.lfn] = path
    return found
