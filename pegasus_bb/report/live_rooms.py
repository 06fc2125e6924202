"""How many bytes were on the reservations of single jobs, over the time of a run.

What launch has noted tells from when until when each had one; planning's word is which
files were on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pegasus_bb.model.run import LiveBytes, Task
from pegasus_bb.report.live import sizes_seen
from pegasus_bb.report.reserved import Reservations, RoomHeld
from pegasus_bb.report.staged import placed, size_of
from pegasus_bb.report.steps import steps

_COPIED, _MADE = ("stage_in",), ("stage_out", "share")
Life = tuple[int, float, float | None]


class _File(NamedTuple):
    """One file in one room."""

    lfn: str
    since: float  # seconds since the epoch


def live_rooms(
    folder: Path, tasks: Sequence[Task], held: Reservations
) -> LiveBytes | None:
    """Of the run in ``folder``, in all rooms together; None where no job had one."""
    if not held.rooms:
        return None
    sizes = {lfn: size_of(file) for lfn, file in placed(folder).items()}
    sizes.update(sizes_seen(tasks))
    begun = {task.node: task.start for task in tasks}
    lives: list[Life] = []
    unknown = 0
    for room in held.rooms:
        own = _noted(room)
        for file in _files(room, begun.get(room.node)):
            size = own.get(file.lfn, sizes.get(file.lfn))
            if size is None:
                unknown += 1
            else:
                lives.append((size, file.since, room.held.until))
    reserved = () if held.on_nodes else tuple(steps(room.held for room in held.rooms))
    most = max((size for _, size in reserved), default=None)
    return LiveBytes(tuple(steps(lives)), most, unknown, reserved)


def _noted(room: RoomHeld) -> Mapping[str, int | None]:
    """Of its results, as launch found them when the task had ended."""
    files = room.noted.get("files")
    entries = files.items() if isinstance(files, dict) else ()
    return {lfn: size_of(file) for lfn, file in entries if isinstance(file, dict)}


def _files(room: RoomHeld, begun: float | None) -> Iterator[_File]:
    """What was brought is there from the beginning; what the task makes, from its
    start. A task that failed has made nobody knows what."""
    since = room.held.since
    for lfn in _names(room, _COPIED):
        yield _File(lfn, since)
    if not room.noted.get("status"):
        for lfn in _names(room, _MADE):
            yield _File(lfn, since if begun is None else max(since, begun))


def _names(room: RoomHeld, keys: Sequence[str]) -> Iterator[str]:
    lists = (room.asked.get(key) for key in keys)
    yield from (str(name) for some in lists if isinstance(some, list) for name in some)
