"""How much a run had reserved, and for how long: from what its own programs have noted.

The reservation of all jobs: from its creation (where the scheduler does not tell, from
the gate's answer) until it was given back. That of one job: from launch's first sight
of it until its results were noted; under DataWarp until they were back, for Slurm keeps
it meanwhile. Of a node that was tried again the last try counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from pegasus_bb.model.reservation import NODE_LOCAL
from pegasus_bb.model.run import NodeTimes
from pegasus_bb.report.jobstate import read_jobstate


def reserved(folder: Path) -> float | None:
    """``byte_hours`` of the run in ``folder``, with the times in its journal."""
    try:
        nodes = read_jobstate(folder / "jobstate.log").nodes
    except OSError:  # it has not begun
        nodes = ()
    return byte_hours(folder, nodes)


def byte_hours(folder: Path, nodes: Iterable[NodeTimes]) -> float | None:
    """Of the run in ``folder``; None where it has reserved nothing, or holds it still,
    or its notes do not tell."""
    bb = folder / "bb"
    try:
        parts = [*_of_all_jobs(bb), *_of_single_jobs(bb, nodes)]
    except (KeyError, TypeError, ValueError):
        return None
    return sum(parts) / 3600 if parts else None


def _of_all_jobs(bb: Path) -> Iterator[float]:
    """Raises KeyError, TypeError and ValueError where notes are missing."""
    if not (bb / "reservation.json").exists():
        return
    noted, ready = _read(bb / "reservation.json"), _read(bb / "ready.json")
    begun = float(ready.get("created") or ready["time"])
    yield int(noted["size"]) * max(0.0, float(noted["released_at"]) - begun)


def _of_single_jobs(bb: Path, nodes: Iterable[NodeTimes]) -> Iterator[float]:
    if not (bb / "transient.json").exists():
        return
    backend = _read(bb / "transient.json")["backend"]
    if backend == NODE_LOCAL:
        return
    by_system = backend == "datawarp"
    ends = {node.node: node.ended for node in nodes if node.ended is not None}
    for file in sorted((bb / "jobs").glob("*.json")):
        note = bb / "landed" / file.name
        if not note.exists():
            continue
        said = _read(note)
        begun, ended = float(said.get("since") or 0), float(said["time"])
        if by_system:
            ended = max(ended, ends.get(file.stem, ended))
        if begun:
            yield int(_read(file)["capacity"]) * max(0.0, ended - begun)


def _read(path: Path) -> Mapping[str, Any]:
    try:
        data = orjson.loads(path.read_bytes())
    except OSError as error:
        raise ValueError(str(error)) from error
    return dict(data)
