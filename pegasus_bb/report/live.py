"""How many bytes were on the tier, over the time of a run.

Where files live is bb/placement.json's word; who brought and who removed them is told
by the job lists of staging and cleaning up, who wrote them by the records.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import orjson

from pegasus_bb.model.run import Kind, LiveBytes, Task

_LIMIT = 64 << 20  # bytes of a job list
_BRINGS = (Kind.STAGE_IN, Kind.STAGE_INTER)
_ON_TIER = ("copy", "write")  # a link takes no room


def live_bytes(
    folder: Path, lists: Mapping[str, Path], tasks: Sequence[Task]
) -> LiveBytes | None:
    """Of the run in ``folder``, with the job ``lists`` of its nodes.

    None where its jobs did not all share one reservation, or nothing tells what was on
    it.
    """
    bb = folder / "bb"
    placement = _read(bb / "placement.json", dict) or {}
    request = _read(bb / "request.json", dict)
    files = _placed(placement)
    if not files or not request or (bb / "transient.json").exists():
        return None
    sizes = {**files, **_sizes(tasks)}
    born = _born(lists, tasks)
    gone = dict(_removed(lists, tasks, str(placement.get("scratch")).rstrip("/")))
    # What no job removes by name goes with the folder, or stays as long as the run.
    last = gone.get("", max((task.end for task in tasks), default=0.0))
    known = [lfn for lfn in files if lfn in born and sizes[lfn] is not None]
    lives = ((sizes[lfn] or 0, born[lfn], gone.get(lfn, last)) for lfn in known)
    return LiveBytes(
        tuple(_steps(lives)), _whole(request.get("capacity")), len(files) - len(known)
    )


def _steps(lives: Iterable[tuple[int, float, float]]) -> Iterator[tuple[float, int]]:
    changes: dict[float, int] = defaultdict(int)
    for size, since, until in lives:
        changes[since] += size
        changes[max(since, until)] -= size
    times = sorted(changes)
    yield from zip(times, accumulate(changes[time] for time in times), strict=True)


def _placed(placement: Mapping[str, Any]) -> dict[str, int | None]:
    """The files of the tier with their sizes, as planning knew them."""
    found = placement.get("files")
    return {
        lfn: _whole(file.get("size"))
        for lfn, file in (found if isinstance(found, dict) else {}).items()
        if isinstance(file, dict)
        and file.get("tier") != "pfs"
        and file.get("how") in _ON_TIER
    }


def _whole(size: object) -> int | None:
    return size if isinstance(size, int) and size >= 0 else None


def _sizes(tasks: Iterable[Task]) -> dict[str, int | None]:
    """As the records measured them."""
    files = (file for task in tasks for file in task.files)
    return {file.name: file.size for file in files if file.size is not None}


def _born(lists: Mapping[str, Path], tasks: Iterable[Task]) -> dict[str, float]:
    """LFN -> when the first job that brings or writes it was started."""
    born: dict[str, float] = {}
    for task in tasks:  # in the order of their starts
        for file in task.files:
            if file.output:
                born.setdefault(file.name, task.start)
        for entry in _entries(lists, task, *_BRINGS):
            lfn = entry.get("lfn")
            if isinstance(lfn, str):
                born.setdefault(lfn, task.start)
    return born


def _removed(
    lists: Mapping[str, Path], tasks: Iterable[Task], scratch: str
) -> Iterator[tuple[str, float]]:
    """LFN -> when the job that removes it was over; the empty one: all that is left."""
    for task in tasks:
        for entry in _entries(lists, task, Kind.CLEANUP):
            target = entry.get("target")
            url = target.get("url") if isinstance(target, dict) else None
            path = url.removeprefix("file://") if isinstance(url, str) else ""
            if path == scratch or path.startswith(f"{scratch}/"):
                yield _lfn(path.removeprefix(scratch)), task.end


def _lfn(below: str) -> str:
    """What pegasus-plan writes /./LFN."""
    return below.removeprefix("/").removeprefix("./")


def _entries(
    lists: Mapping[str, Path], task: Task, *kinds: Kind
) -> Iterator[Mapping[str, Any]]:
    """The job list of a task of one of ``kinds`` that has done all of it."""
    if task.kind not in kinds or task.exit_code != 0 or task.node not in lists:
        return
    listed = _read(lists[task.node], list) or []
    yield from (entry for entry in listed if isinstance(entry, dict))


def _read(path: Path, kind: type) -> Any:
    """What the JSON file at ``path`` has, where that is of this kind; else None."""
    try:
        with path.open("rb") as source:
            found = orjson.loads(source.read(_LIMIT))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, kind) else None
