"""How much a run had reserved, and for how long: from what its own programs have noted.

The reservation of all jobs: from its creation (where the scheduler does not tell, from
the gate's answer) until it was given back. That of one job: from launch's first sight
of it until its results were noted; under DataWarp until they were back, for Slurm keeps
it meanwhile. Of a node that was tried again the last try counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from pegasus_bb.model.reservation import NODE_LOCAL
from pegasus_bb.model.run import NodeTimes
from pegasus_bb.report.jobstate import read_jobstate


class Held(NamedTuple):
    """One reservation, from when until when."""

    size: int  # bytes
    since: float  # seconds since the epoch
    until: float | None  # None: it is held still


class RoomHeld(NamedTuple):
    """That of a single job, with what its node's notes say of it."""

    node: str
    held: Held
    asked: Mapping[str, Any]  # reservation of bb/nodes/<node>.json
    noted: Mapping[str, Any]  # bb/stage_out/<node>.json


@dataclass(frozen=True, slots=True)
class Reservations:
    """All of a run."""

    shared: Held | None = None
    rooms: tuple[RoomHeld, ...] = ()  # of those jobs whose rooms were made
    on_nodes: bool = False  # the rooms are on disks of nodes: nothing is reserved

    @property
    def byte_hours(self) -> float | None:
        """Bytes x hours; None where nothing was reserved, or something still is."""
        held = [] if self.on_nodes else [room.held for room in self.rooms]
        held += [self.shared] if self.shared else []
        if not held:
            return None
        parts: list[float] = []
        for size, since, until in held:
            if until is None:
                return None
            parts.append(size * max(0.0, until - since))
        return sum(parts) / 3600


def reserved(folder: Path) -> float | None:
    """``byte_hours`` of the run in ``folder``, with the times in its journal."""
    try:
        nodes = read_jobstate(folder / "jobstate.log").nodes
    except OSError:  # it has not begun
        nodes = ()
    found = reservations(folder, nodes)
    return found.byte_hours if found else None


def reservations(folder: Path, nodes: Iterable[NodeTimes]) -> Reservations | None:
    """Of the run in ``folder``; None where its notes do not tell."""
    bb = folder / "bb"
    try:
        return Reservations(_shared(bb), *_rooms(bb, nodes))
    except (KeyError, TypeError, ValueError):
        return None


def _shared(bb: Path) -> Held | None:
    """Raises KeyError, TypeError and ValueError where notes are missing."""
    if not (bb / "reservation.json").exists():
        return None
    noted, ready = _read(bb / "reservation.json"), _read(bb / "ready.json")
    until = noted["released_at"]
    return Held(
        _number(noted["size"]),
        _number(ready.get("created") or ready["time"]),
        None if until is None else _number(until),
    )


def _rooms(bb: Path, nodes: Iterable[NodeTimes]) -> tuple[tuple[RoomHeld, ...], bool]:
    if not (bb / "transient.json").exists():
        return (), False
    backend = _read(bb / "transient.json")["backend"]
    ends = {node.node: node.ended for node in nodes if node.ended is not None}
    by_system = ends if backend == "datawarp" else {}
    return tuple(_each_room(bb, by_system)), backend == NODE_LOCAL


def _each_room(bb: Path, by_system: Mapping[str, float]) -> Iterator[RoomHeld]:
    """A job that worked on the PFS for want of one has none."""
    for file in sorted((bb / "nodes").glob("*.json")):
        note = bb / "stage_out" / file.name
        if not note.exists():
            continue
        noted = _read(note)
        since, until = _number(noted.get("since") or 0), _number(noted["time"])
        until = max(until, by_system.get(file.stem, until))
        if since:
            asked = _read(file)["reservation"]
            held = Held(_number(asked["capacity"]), since, until)
            yield RoomHeld(file.stem, held, asked, noted)


def _number(said: Any) -> Any:
    """Raises TypeError for what is none; JSON has no infinite ones."""
    if isinstance(said, bool) or not isinstance(said, (int, float)):
        raise TypeError(said)
    return said


def _read(path: Path) -> Mapping[str, Any]:
    try:
        data = orjson.loads(path.read_bytes())
    except OSError as error:
        raise ValueError(str(error)) from error
    return dict(data)
