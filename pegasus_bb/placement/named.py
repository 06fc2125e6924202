"""Mode hybrid: jobs that have a room because the user wants a file of theirs there."""

from __future__ import annotations

from collections.abc import Iterable

from pegasus_bb.model.placement import Placement
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.placement.worth import Candidate


def split_named(
    placement: Placement, found: Iterable[Candidate]
) -> tuple[list[Candidate], list[Candidate]]:
    """Those with a file that the user wants in a room, and all others."""
    named: list[Candidate] = []
    others: list[Candidate] = []
    for each in found:
        wanted = not placement.to_rooms.isdisjoint(each.private)
        (named if wanted else others).append(each)
    return named, others


def check_named(
    workflow: Workflow, placement: Placement, named: Iterable[Candidate]
) -> None:
    """Raises CatalogError where a job cannot have the room that the user wants."""
    lost = placement.to_rooms.difference(*(each.private for each in named))
    for job in workflow.jobs.values() if lost else ():
        for place, use in enumerate(job.uses):
            if use.lfn in lost and use.kind != "input":
                raise workflow.document.error(
                    f"job {job.id} ({job.transformation}) cannot have a room for "
                    f"{use.lfn}: {placement.files[use.lfn].reason}",
                    ["jobs", job.index, "uses", place],
                    use.lfn,
                    "a job of one node, with files of known sizes that have room "
                    "there, without a checkpoint and without reading what it makes; "
                    "results that are staged out (--output-sites); no sub-workflows",
                )
