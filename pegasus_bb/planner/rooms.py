"""What either planner writes for jobs with reservations of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pegasus_bb.dag.nodes import Script
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.placement import Room
from pegasus_bb.planner.bbjson import as_json, placement_json
from pegasus_bb.planner.context import PlanContext
from pegasus_bb.planner.seal.view import DEFERRED
from pegasus_bb.rewrite import directives_of, linked_sources
from pegasus_bb.runtime.room.planned import landing_of


def landed_post(post: Script, node: str, context: PlanContext) -> Script:
    """``post``, which judges ``node``, once the node's results are back."""
    words = f"{node} $JOBID $RETURN {post.executable} {post.arguments}"
    return Script(f"{context.bin}/landed", words, DEFERRED, context.poll)


def transient_files(
    context: PlanContext,
    catalogs: Catalogs,
    nodes: Iterable[tuple[str, str]],
    scratch: str,
    outputs: Mapping[str, str],
) -> Iterator[tuple[str, bytes]]:
    """``room_files``, and where all files are, in mode transient."""
    yield where_file(context, scratch, outputs)
    yield from room_files(context, catalogs, nodes)


def where_file(
    context: PlanContext, scratch: str, outputs: Mapping[str, str]
) -> tuple[str, bytes]:
    """Where all files are, in mode transient."""
    assert context.placement is not None  # noqa: S101 - so it is in this mode
    where = placement_json(context.placement, "", scratch, scratch, outputs)
    return "placement.json", where


def room_files(
    context: PlanContext, catalogs: Catalogs, nodes: Iterable[tuple[str, str]]
) -> Iterator[tuple[str, bytes]]:
    """By path below bb/; none where no job may have a reservation of its own.
    ``nodes``: (id of a job, its node). Raises UsageError."""
    yield from common_files(context)
    yield from job_files(context, catalogs, nodes)


def common_files(context: PlanContext) -> Iterator[tuple[str, bytes]]:
    """Of all rooms together: few, or none."""
    if context.transient is not None:
        yield "transient.json", as_json(context.transient.to_json())


def job_files(
    context: PlanContext, catalogs: Catalogs, nodes: Iterable[tuple[str, str]]
) -> Iterator[tuple[str, bytes]]:
    """Of each room: as many files as jobs. Raises UsageError."""
    request, placement = context.transient, context.placement
    if request is None or placement is None:
        return
    common = context.request
    shared = common.name if common and common.backend == "datawarp" else ""
    sources = linked_sources(catalogs, placement)
    for job, node in nodes:
        if job in placement.rooms:
            room = placement.rooms[job]
            fields = {"version": 1, "job": job, **_fields(room)}
            yield f"jobs/{node}.json", as_json(fields)
            if request.backend == "datawarp":
                landing = str(Path(landing_of(request.prefix, node, "0")).parent)
                text = directives_of(request, room, landing, sources, shared)
                yield f"jobs/{job}.bbf", text.encode()


def _fields(room: Room) -> dict[str, object]:
    return {
        "capacity": room.capacity,
        "stage_in": room.stage_in,
        "stage_out": room.stage_out,
        "read": room.read,
        "write": room.write,
        "share": room.share,
    }
