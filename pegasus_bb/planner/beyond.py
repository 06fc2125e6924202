"""Files of bb/ for jobs that run when the reservation may be gone, and for those that
make what these read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from pegasus_bb.model.placement import Placement
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.planner.bbjson import as_json
from pegasus_bb.planner.seal.beyond import NONE, NOTHING


def beyond_files(
    placement: Placement,
    workflow: Workflow,
    nodes: Iterable[tuple[str, str]],
    beyond: Set[str],
    pfs_scratch: str,
) -> Iterator[tuple[str, bytes]]:
    """By path below bb/; none where the reservation is kept to the end. ``nodes``: (id
    of a job, its node)."""
    closing = placement.closing
    if closing is None or not beyond:
        return
    yield "beyond", "".join(f"{name}\n" for name in sorted(beyond)).encode()
    if placement.tier.backend == "datawarp":
        yield NONE, NOTHING.encode()
    for ident, node in nodes:
        job = workflow.jobs.get(ident)
        made = [use.lfn for use in job.uses if use.kind != "input"] if job else []
        copies = {lfn: f"{pfs_scratch}/{lfn}" for lfn in made if lfn in closing.files}
        if copies:
            yield f"carry/{node}.json", as_json(copies)
