"""How much a run had reserved, and for how long, by the notes in ``bb/``.

The shared reservation counts from its creation, or from the gate's answer if the
scheduler does not tell, until its release. A job's own counts from launch's first sight
of it until its results were noted; under DataWarp until they were back, because Slurm
keeps it until then. The last try of a node counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pegasus_bb.core.units import GIB
from pegasus_bb.model.backends import KINDS
from pegasus_bb.model.run import NodeTimes
from pegasus_bb.report.jobstate import read_jobstate
from pegasus_bb.report.run_notes import Note, read_note


class Reserved(NamedTuple):
    size: int  # bytes
    since: float  # seconds since the epoch
    until: float | None  # None: it is still held


class ReservedByJob(NamedTuple):
    node: str
    reserved: Reserved
    planned: Note  # reservation of bb/nodes/<node>.json
    outcome: Note  # bb/stage_out/<node>.json


@dataclass(frozen=True, slots=True)
class Reservations:
    shared: Reserved | None = None
    jobs: tuple[ReservedByJob, ...] = ()  # those that were made
    node_local: bool = False  # jobs' files are on disks of nodes: nothing is reserved
    price: float | None = None  # of a GiB for an hour, in the site's own unit

    @property
    def byte_hours(self) -> float | None:
        """Bytes x hours; None if nothing was reserved, or something still is."""
        found = [] if self.node_local else [job.reserved for job in self.jobs]
        found += [self.shared] if self.shared else []
        return _byte_hours(found)

    @property
    def cost(self) -> float | None:
        """What the job reservations cost, as they were planned, in the site's own unit;
        None without a price."""
        used = _byte_hours([job.reserved for job in self.jobs])
        if self.price is None or used is None:
            return None
        return self.price * used / GIB


def _byte_hours(found: Iterable[Reserved]) -> float | None:
    products: list[float] = []
    for size, since, until in found:
        if until is None:
            return None
        products.append(size * max(0.0, until - since))
    return sum(products) / 3600 if products else None


def reserved_byte_hours(folder: Path) -> float | None:
    """Return ``byte_hours`` of the run in ``folder``, with the times in its
    jobstate.log."""
    try:
        nodes = read_jobstate(folder / "jobstate.log").nodes
    except OSError:  # the run has not begun
        nodes = ()
    return reservations(folder, nodes).byte_hours


def reservations(folder: Path, nodes: Iterable[NodeTimes]) -> Reservations:
    """Return the reservations of the run in ``folder``; none if a note is damaged."""
    bb = folder / "bb"
    try:
        return _with_jobs(_shared(bb), bb, nodes)
    except (KeyError, TypeError, ValueError):
        return Reservations()


def _shared(bb: Path) -> Reserved | None:
    if not (bb / "reservation.json").exists():
        return None
    note = read_note(bb / "reservation.json")
    ready = read_note(bb / "ready.json")
    until = note["released_at"]
    return Reserved(
        _number(note["size"]),
        _number(ready.get("created") or ready["time"]),
        None if until is None else _number(until),
    )


def _with_jobs(
    shared: Reserved | None, bb: Path, nodes: Iterable[NodeTimes]
) -> Reservations:
    if not (bb / "transient.json").exists():
        return Reservations(shared)
    request = read_note(bb / "transient.json")
    kind = KINDS[request["backend"]]
    price = request.get("settings", {}).get("price")
    ends: dict[str, float] = {}
    if kind.is_slurm:
        ends = {node.node: node.ended for node in nodes if node.ended is not None}
    return Reservations(
        shared,
        tuple(_each_job(bb, ends)),
        node_local=not kind.has_reservations,
        price=None if price is None else float(price),
    )


def _each_job(bb: Path, ends: Mapping[str, float]) -> Iterator[ReservedByJob]:
    for file in sorted((bb / "nodes").glob("*.json")):
        path = bb / "stage_out" / file.name
        if not path.exists():
            continue
        outcome = read_note(path)
        since = _number(outcome.get("since") or 0)
        until = _number(outcome["time"])
        if since:
            planned = read_note(file)["reservation"]
            until = max(until, ends.get(file.stem, until))
            reserved = Reserved(_number(planned["capacity"]), since, until)
            yield ReservedByJob(file.stem, reserved, planned, outcome)


def _number(value: Any) -> Any:
    """Return ``value``. Raises TypeError if it is no number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(value)
    return value
