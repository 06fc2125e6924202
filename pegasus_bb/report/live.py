"""How many bytes were on the reservation of all jobs, over the time of a run.

Where files live is bb/placement.json's word; who brought and who removed them is told
by the job lists of staging and cleaning up, who wrote them by the records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pegasus_bb.model.run import Kind, LiveBytes, Task
from pegasus_bb.report.joblists import entries, read_note
from pegasus_bb.report.reserved import Held
from pegasus_bb.report.steps import steps

_BRINGS = (Kind.STAGE_IN, Kind.STAGE_INTER)
_ON_TIER = ("copy", "write")  # a link takes no room


def live_bytes(
    folder: Path, lists: Mapping[str, Path], tasks: Sequence[Task], held: Held | None
) -> LiveBytes | None:
    """Of the run in ``folder``, with the job ``lists`` of its nodes, whose jobs shared
    what was ``held``.

    None where they shared nothing, or nothing tells what was on it.
    """
    bb = folder / "bb"
    placement = read_note(bb / "placement.json", dict) or {}
    request = read_note(bb / "request.json", dict)
    files = _placed(placement)
    if not files or not request:
        return None
    sizes = {**files, **sizes_seen(tasks)}
    born = _born(lists, tasks)
    gone = dict(_removed(lists, tasks, str(placement.get("scratch")).rstrip("/")))
    last = _last(gone, held, tasks)
    known = [lfn for lfn in files if lfn in born and sizes[lfn] is not None]
    lives = [
        (sizes[lfn] or 0, born[lfn], min(gone.get(lfn, last), last)) for lfn in known
    ]
    return LiveBytes(
        tuple(steps(lives)),
        _whole(request.get("capacity")),
        len(files) - len(known),
        tuple(steps([held])) if held else (),
    )


def _last(gone: Mapping[str, float], held: Held | None, tasks: Iterable[Task]) -> float:
    """When all went that no job removes by name: with the folder, with the reservation,
    or where neither has an end with the run."""
    ends = [gone.get(""), held.until if held else None]
    known = [end for end in ends if end is not None]
    return min(known) if known else max((task.end for task in tasks), default=0.0)


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


def sizes_seen(tasks: Iterable[Task]) -> dict[str, int | None]:
    """LFN -> bytes, as the records measured them."""
    files = (file for task in tasks for file in task.files)
    return {file.name: file.size for file in files if file.size is not None}


def _born(lists: Mapping[str, Path], tasks: Iterable[Task]) -> dict[str, float]:
    """LFN -> when the first job that brings or writes it was started."""
    born: dict[str, float] = {}
    for task in tasks:  # in the order of their starts
        for file in task.files:
            if file.output:
                born.setdefault(file.name, task.start)
        for entry in entries(lists, task, *_BRINGS):
            lfn = entry.get("lfn")
            if isinstance(lfn, str):
                born.setdefault(lfn, task.start)
    return born


def _removed(
    lists: Mapping[str, Path], tasks: Iterable[Task], scratch: str
) -> Iterator[tuple[str, float]]:
    """LFN -> when the job that removes it was over; the empty one: all that is left."""
    for task in tasks:
        for entry in entries(lists, task, Kind.CLEANUP):
            target = entry.get("target")
            url = target.get("url") if isinstance(target, dict) else None
            path = url.removeprefix("file://") if isinstance(url, str) else ""
            if path == scratch or path.startswith(f"{scratch}/"):
                yield _lfn(path.removeprefix(scratch)), task.end


def _lfn(below: str) -> str:
    """What pegasus-plan writes /./LFN."""
    return below.removeprefix("/").removeprefix("./")
