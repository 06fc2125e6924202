"""Reads the notes that a run leaves in ``bb/``, and its job lists.

A file that is absent or damaged reads as an empty one: no note stops a report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from pegasus_bb.model.run import JobOnPfs, Kind, MachineLoad, Problem, Task

_LIMIT = 64 << 20  # bytes of a note or a job list
_LINE_LIMIT = 1 << 20  # bytes; a real line of the manifest has some 500
Note = Mapping[str, Any]


class StagedOut(NamedTuple):
    size: int  # bytes
    last: float  # when the last one was whole and durable; seconds since the epoch


class Known(NamedTuple):
    """A file of the workflow before anything ran."""

    size: int | None  # bytes
    is_input: bool
    is_copied: bool  # by staging in


def read_note(path: Path) -> Note:
    try:
        found = _load(path)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def size_of(file: Note, key: str = "size") -> int | None:
    size = file.get(key)
    return size if type(size) is int and size >= 0 else None


def files_in(note: Note) -> Mapping[str, Note]:
    """Return LFN -> entry, from the key ``files`` of ``note``."""
    files = note.get("files")
    entries = files.items() if isinstance(files, dict) else ()
    return {lfn: file for lfn, file in entries if isinstance(file, dict)}


def job_list(lists: Mapping[str, Path], task: Task, *kinds: Kind) -> Iterator[Note]:
    """Yield the job list of a task of one of ``kinds`` that has done all of it."""
    if task.kind not in kinds or task.exit_code != 0 or task.node not in lists:
        return
    try:
        entries = _load(lists[task.node])
    except (OSError, ValueError):
        return
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            yield entry


def load_at_start(folder: Path) -> MachineLoad | None:
    """Read what the local engine noted; None if another engine ran it."""
    note = read_note(folder / "bb" / "load.json")
    try:
        return MachineLoad(float(note["load"][0]), int(note["cores"]))
    except (KeyError, IndexError, TypeError, ValueError):
        return None


def read_outcomes(folder: Path) -> dict[str, Note]:
    """Node -> what its last try has noted of its results; also ``<node>.wait``, while
    these are not there yet."""
    files = sorted((folder / "bb" / "stage_out").glob("*.json"))
    return {file.stem: read_note(file) for file in files}


def staged_out(folder: Path, outcomes: Mapping[str, Note]) -> StagedOut | None:
    """Return the results of the run in ``folder``; None if no note names any."""
    uuid = read_note(folder / "bb" / "request.json").get("uuid")
    manifest = {lfn: it for lfn, of, it in _manifest(folder) if uuid in (None, of)}
    parts = [*manifest.values(), *_by_job_reservations(outcomes)]
    if not parts:
        return None
    return StagedOut(sum(part.size for part in parts), max(part.last for part in parts))


def fetched(folder: Path) -> dict[str, int]:
    """LFN -> bytes, of the files that came from other hosts."""
    entries = _entries(folder / "bb" / "fetched.jsonl")
    sizes = ((entry.get("lfn"), size_of(entry)) for entry in entries)
    return {str(lfn): size for lfn, size in sizes if lfn and size is not None}


def temporary_files(outcomes: Mapping[str, Note]) -> dict[str, int]:
    """Node -> the most bytes of temporary files that its last try had on the tier."""
    sizes = ((node, size_of(note, "temporary")) for node, note in outcomes.items())
    return {node: size for node, size in sizes if size is not None}


def cached_inputs(outcomes: Mapping[str, Note], key: str) -> int | None:
    """Add up ``key``, of what the last tries of jobs found in the caches of their
    nodes; None if no job used a cache."""
    sizes = [size_of(note, key) for note in outcomes.values()]
    known = [size for size in sizes if size is not None]
    return sum(known) if known else None


def jobs_on_pfs(folder: Path) -> tuple[tuple[JobOnPfs, ...], tuple[Problem, ...]]:
    """Return the jobs that worked on the PFS because their tier had no room, by node.

    A damaged note still counts as such a job, and is a Problem.
    """
    found: list[JobOnPfs] = []
    problems: list[Problem] = []
    for path in sorted((folder / "bb" / "elsewhere").glob("*.json")):
        try:
            note = _load(path)
            reason = " ".join(str(note["because"]).split())
            job = JobOnPfs(path.stem, reason, str(note["host"]), float(note["time"]))
        except (OSError, ValueError, TypeError, KeyError) as error:
            why = str(error).splitlines()[0]
            problems.append(Problem(str(path), f"no note of launch's: {why}"))
            job = JobOnPfs(path.stem, "launch's note of it cannot be read")
        found.append(job)
    return tuple(found), tuple(problems)


def count_job_reservations(folder: Path) -> int:
    files = (folder / "bb" / "nodes").glob("*.json")
    return sum(1 for file in files if b'"reservation"' in file.read_bytes())


def _load(path: Path) -> Any:
    with path.open("rb") as source:
        return orjson.loads(source.read(_LIMIT))


def _manifest(folder: Path) -> Iterator[tuple[str, Any, StagedOut]]:
    """Yield LFN, the run's uuid, and the result."""
    for entry in _entries(folder / "bb" / "manifest.jsonl"):
        lfn = entry.get("lfn")
        size = size_of(entry)
        time = entry.get("time")
        if isinstance(lfn, str) and size is not None and isinstance(time, (int, float)):
            yield lfn, entry.get("uuid"), StagedOut(size, float(time))


def _entries(path: Path) -> Iterator[Note]:
    """Yield the entries of a journal; torn lines are skipped."""
    for line in _lines(path):
        try:
            entry = orjson.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            yield entry


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as source:
            while line := source.readline(_LINE_LIMIT):
                yield line
    except OSError:
        return


def _by_job_reservations(outcomes: Mapping[str, Note]) -> Iterator[StagedOut]:
    for node, note in outcomes.items():
        if node.endswith(".wait") or f"{node}.wait" in outcomes:
            continue
        time = note.get("time")
        if isinstance(note.get("files"), dict) and isinstance(time, (int, float)):
            sizes = (size_of(file) or 0 for file in files_in(note).values())
            yield StagedOut(sum(sizes), float(time))
