"""How many bytes the files of a workflow have, and how many of them staging in copied.

A link moves nothing, and what a job prints is no data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pegasus_bb.core.errors import CatalogError, UsageError
from pegasus_bb.core.units import parse_size
from pegasus_bb.model.document import parse
from pegasus_bb.model.mean_and_error import total_size
from pegasus_bb.model.run import Kind, Task
from pegasus_bb.report.learn import sizes_of
from pegasus_bb.report.run_notes import Known, Note, files_in, job_list, size_of

_LOCAL = re.compile(r"^(?:file|symlink):(?://(?:localhost)?)?(?=/)")
_PRINTED = 64 << 10  # bytes that a job may print
_LIMIT = 256 << 20  # characters of an abstract workflow


def footprint(files: Mapping[str, Known], tasks: Sequence[Task]) -> int | None:
    """Sum the bytes of all ``files``, as ``tasks`` saw them, else as they are known.

    Return None if the size of an input is unknown: neither its own, nor the bytes that
    staging in copied, nor those that a task read of it.
    """
    if not files:
        return None
    users = [task for task in tasks if task.kind is Kind.COMPUTE]
    sizes = {lfn: file.size for lfn, file in files.items()} | sizes_of(users)
    unknown = [lfn for lfn, f in files.items() if f.is_input and sizes[lfn] is None]
    if not unknown:
        return _sum(sizes.values())
    brought = written_by(Kind.STAGE_IN, tasks)
    if brought is not None and all(files[lfn].is_copied for lfn in unknown):
        copied = {lfn for lfn, file in files.items() if file.is_copied}
        known = _sum(sizes[lfn] for lfn in copied) or 0
        others = _sum(sizes[lfn] for lfn in sizes.keys() - copied) or 0
        return max(brought, known) + others
    read = _most_read(users)
    if any(lfn not in read for lfn in unknown):
        return None
    return _sum((sizes | {lfn: read[lfn] for lfn in unknown}).values())


def planned(placement: Note) -> dict[str, Known]:
    """Return what bb/placement.json says of each LFN."""
    return {
        lfn: Known(
            size_of(file),
            file.get("how") in ("copy", "link"),
            file.get("how") == "copy",
        )
        for lfn, file in files_in(placement).items()
    }


def declared(
    workflow: Path, lists: Mapping[str, Path], tasks: Iterable[Task]
) -> dict[str, Known]:
    """Return what the abstract workflow says of each LFN, for a run without a
    placement."""
    copied: set[str] = set()
    source_sizes: dict[str, int | None] = {}
    for task in tasks:
        for entry in job_list(lists, task, Kind.STAGE_IN):
            lfn = str(entry.get("lfn"))
            source_sizes[lfn] = _source_size(entry, task.end)
            if not _is_link(entry):
                copied.add(lfn)
    sizes: dict[str, int | None] = {}
    made: set[str] = set()
    for lfn, use in _uses(workflow):
        size = _declared_size(use)
        known = sizes.get(lfn, source_sizes.get(lfn))
        sizes[lfn] = known if size is None else size
        if use.get("type") == "output":
            made.add(lfn)
    return {
        lfn: Known(size, lfn not in made, lfn in copied) for lfn, size in sizes.items()
    }


def _sum(sizes: Iterable[int | None]) -> int | None:
    """Sum the known sizes; None if there is none, or if all files are empty."""
    return sum(size for size in sizes if size is not None) or None


def _most_read(tasks: Iterable[Task]) -> dict[str, int]:
    read: dict[str, int] = {}
    for task in tasks:
        for file in task.files:
            if file.bytes_read:
                read[file.name] = max(file.bytes_read, read.get(file.name, 0))
    return read


def programs(lists: Mapping[str, Path], tasks: Iterable[Task]) -> set[str]:
    """Return the LFNs of programs and images that staging in has brought: no data of
    the workflow."""
    return {
        str(entry.get("lfn"))
        for task in tasks
        for entry in job_list(lists, task, Kind.STAGE_IN)
        if entry.get("executable") or entry.get("image")
    }


def _source_size(entry: Mapping[str, Any], before: float) -> int | None:
    """Return the size of a local source that has not changed since ``before``
    (seconds)."""
    sources = entry.get("src_urls")
    first = sources[0] if isinstance(sources, list) and sources else None
    url = first.get("url") if isinstance(first, dict) else None
    path = _LOCAL.sub("", str(url))
    try:
        status = Path(path).stat() if path.startswith("/") else None
    except (OSError, ValueError):
        return None
    return status.st_size if status and status.st_mtime <= before else None


def _is_link(entry: Mapping[str, Any]) -> bool:
    places = entry.get("dest_urls")
    urls = [place.get("url") for place in places] if isinstance(places, list) else []
    return any(str(url).startswith("symlink:") for url in urls)


def _uses(workflow: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        with workflow.open(encoding="utf-8-sig") as source:
            data = parse(source.read(_LIMIT), workflow)
    except (OSError, ValueError, CatalogError):
        return
    jobs = data.get("jobs") if isinstance(data, dict) else None
    for job in jobs if isinstance(jobs, list) else ():
        uses = job.get("uses") if isinstance(job, dict) else None
        for use in uses if isinstance(uses, list) else ():
            if isinstance(use, dict) and "lfn" in use:
                yield str(use["lfn"]), use


def _declared_size(use: Mapping[str, Any]) -> int | None:
    metadata = use.get("metadata")
    said = metadata.get("size") if isinstance(metadata, dict) else None
    try:
        return parse_size(str(use.get("size") if said is None else said))
    except UsageError:
        return None


def staged_in(files: Mapping[str, Known], tasks: Iterable[Task]) -> int | None:
    """Return the bytes that its jobs wrote, else the sizes of ``files`` that it
    copied."""
    copied = [file.size for file in files.values() if file.is_copied]
    if files and not copied:
        return 0
    written = written_by(Kind.STAGE_IN, tasks)
    return total_size(copied) if written is None else written


def written_by(kind: Kind, tasks: Iterable[Task]) -> int | None:
    """Return the bytes that jobs of ``kind`` wrote. None if an earlier attempt may have
    written some, or if the jobs wrote hardly more than they print: a file system may
    clone files, and counts none."""
    found = [task for task in tasks if task.kind is kind]
    written = total_size(None if task.retry else task.wchar for task in found)
    least = _PRINTED * len(found)
    return None if written is None or written < least else written


def without_printed_text(
    tasks: Iterable[Task], lists: Mapping[str, Path], files: Mapping[str, Known]
) -> Iterator[Task]:
    """Yield ``tasks``; one that only made links has moved 0 bytes."""
    for task in tasks:
        entries = list(job_list(lists, task, Kind.STAGE_IN))
        found = [files.get(str(entry.get("lfn"))) for entry in entries]
        if entries and all(file and not file.is_copied for file in found):
            yield task._replace(rchar=0, wchar=0)
        else:
            yield task
