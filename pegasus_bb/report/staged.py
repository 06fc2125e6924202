"""What was moved for a run, from the notes in its bb folder: bytes, and when.

manifest.jsonl has a line per result that reached its destination, landed/*.json one
note for each job whose own reservation was staged out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from pegasus_bb.model.run import Kind, Task
from pegasus_bb.model.stat import total

_LINE_LIMIT = 1 << 20  # bytes; a real one has some 500
_NOTE_LIMIT = 16 << 20


class Saved(NamedTuple):
    """Of the results of a run."""

    size: int  # bytes
    last: float  # when the last one was whole and durable; seconds since the epoch


def saved(folder: Path) -> Saved | None:
    """Of the run in ``folder``; None where nothing is noted."""
    uuid = _note(folder / "bb" / "request.json").get("uuid")
    results = {lfn: it for lfn, of, it in _results(folder) if uuid in (None, of)}
    parts = [*results.values(), *_landed(folder)]
    if not parts:
        return None
    return Saved(sum(part.size for part in parts), max(part.last for part in parts))


def brought(folder: Path, tasks: Iterable[Task]) -> int | None:
    """Bytes that staging in copied: as its jobs wrote, else as was planned."""
    written = total(task.wchar for task in tasks if task.kind is Kind.STAGE_IN)
    if written is not None:
        return int(written)
    files = placed(folder).values()
    size = total(size_of(file) for file in files if file.get("how") == "copy")
    return None if size is None else int(size)


def placed(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    """LFN -> how it was to come to its tier, of bb/placement.json."""
    files = _note(folder / "bb" / "placement.json").get("files")
    if not isinstance(files, dict):
        return {}
    return {lfn: file for lfn, file in files.items() if isinstance(file, dict)}


def _results(folder: Path) -> Iterator[tuple[str, Any, Saved]]:
    """LFN, the run's uuid and what is said of it; torn lines are skipped."""
    for line in _lines(folder / "bb" / "manifest.jsonl"):
        entry = _mapping(line)
        lfn, size, time = entry.get("lfn"), size_of(entry), entry.get("time")
        if isinstance(lfn, str) and size is not None and isinstance(time, (int, float)):
            yield lfn, entry.get("uuid"), Saved(size, float(time))


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as source:
            while line := source.readline(_LINE_LIMIT):
                yield line
    except OSError:
        return


def _landed(folder: Path) -> Iterator[Saved]:
    notes = folder / "bb" / "stage_out"
    for path in sorted(notes.glob("*.json")):
        waits = path.with_suffix(".wait.json").exists()
        if path.name.endswith(".wait.json") or waits:
            continue
        note = _note(path)
        files, time = note.get("files"), note.get("time")
        if isinstance(files, dict) and isinstance(time, (int, float)):
            sizes = [size_of(file) for file in files.values() if isinstance(file, dict)]
            yield Saved(sum(size or 0 for size in sizes), float(time))


def _note(path: Path) -> Mapping[str, Any]:
    try:
        with path.open("rb") as source:
            return _mapping(source.read(_NOTE_LIMIT))
    except OSError:
        return {}


def _mapping(text: bytes) -> Mapping[str, Any]:
    try:
        data = orjson.loads(text)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def size_of(file: Mapping[str, Any]) -> int | None:
    """Bytes, as a note has them."""
    size = file.get("size")
    return size if type(size) is int and size >= 0 else None
