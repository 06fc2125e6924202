"""Files of bb/ for jobs that run when the reservation is not there, and for those that
make what these read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from typing import NamedTuple

from pegasus_bb.model.placement import PFS, Placement
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.planner.bbjson import as_json
from pegasus_bb.planner.seal.beyond import NONE, NOTHING


class Outside(NamedTuple):
    """Nodes that run on the PFS."""

    prior: Set[str]  # before the reservation is asked for
    beyond: Set[str]  # when it may be given back


def outside_files(
    placement: Placement,
    workflow: Workflow,
    nodes: Iterable[tuple[str, str]],
    outside: Outside,
    pfs_scratch: str,
) -> Iterator[tuple[str, bytes]]:
    """By path below bb/; none where the reservation is kept from start to end.
    ``nodes``: (id of a job, its node)."""
    for file, names in zip(("prior", "beyond"), outside, strict=True):
        if names:
            yield file, "".join(f"{name}\n" for name in sorted(names)).encode()
    if any(outside) and placement.tier.backend == "datawarp":
        yield NONE, NOTHING.encode()
    read = placement.closing.files if placement.closing else frozenset()
    for ident, node in nodes if read else ():
        made = _made(workflow, ident)
        copies = {lfn: f"{pfs_scratch}/{lfn}" for lfn in made if lfn in read}
        if copies:
            yield f"carry/{node}.json", as_json(copies)


def with_reused(
    placement: Placement, workflow: Workflow, nodes: Iterable[tuple[str, str]]
) -> Placement:
    """``placement`` with what jobs beyond a cut read, and none of ``nodes`` makes, on
    the PFS: a planner that knows an earlier result brings that, and who would have
    copied it for those jobs does not run."""
    read = placement.closing.files if placement.closing else frozenset()
    if not read:
        return placement
    reused = read.difference(*(_made(workflow, ident) for ident, _ in nodes))
    there = {lfn: replace(placement.files[lfn], tier=PFS, how="copy") for lfn in reused}
    return replace(placement, files={**placement.files, **there})


def _made(workflow: Workflow, ident: str) -> list[str]:
    job = workflow.jobs.get(ident)  # None of one that a rewriting has added
    return [use.lfn for use in job.uses if use.kind != "input"] if job else []
