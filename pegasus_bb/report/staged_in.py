"""What staging in copied. A link moves nothing, and what a job prints is no data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from pegasus_bb.model.run import Kind, Task
from pegasus_bb.model.stat import total
from pegasus_bb.report.run_notes import Known, job_list

_WORDS = 64 << 10  # bytes that a job may print


def staged_in(files: Mapping[str, Known], tasks: Iterable[Task]) -> int | None:
    """Bytes: as its jobs wrote them, else the sizes of ``files`` that it copied."""
    copied = [file.size for file in files.values() if file.is_copied]
    if files and not copied:
        return 0
    written = written_by_stage_in(tasks)
    known = total(copied) if written is None else written
    return None if known is None else int(known)


def written_by_stage_in(tasks: Iterable[Task]) -> int | None:
    """None where an earlier attempt may have written some, or there is little but its
    own words: a file system may clone files, and counts none."""
    found = [task for task in tasks if task.kind is Kind.STAGE_IN]
    written = total(None if task.retry else task.wchar for task in found)
    least = _WORDS * len(found)
    return None if written is None or written < least else int(written)


def without_words(
    tasks: Iterable[Task], lists: Mapping[str, Path], files: Mapping[str, Known]
) -> Iterator[Task]:
    """``tasks``; one that only made links has moved 0 bytes."""
    for task in tasks:
        entries = list(job_list(lists, task, Kind.STAGE_IN))
        found = [files.get(str(entry.get("lfn"))) for entry in entries]
        if entries and all(file and not file.is_copied for file in found):
            yield replace(task, rchar=0, wchar=0)
        else:
            yield task
