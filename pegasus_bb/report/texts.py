"""The records of many files, of which a second process reads some."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pegasus_bb.beside import Beside
from pegasus_bb.model.run import FileUse
from pegasus_bb.report.records import RecordText, read_records

WORTH_A_PROCESS = 500  # files; some 0.2 s
_HERE = 0.4  # of them: this process has all the tasks to make as well


def read_all(paths: Sequence[Path]) -> Iterator[list[RecordText]]:
    """Of each file its records, in the order of ``paths``."""
    if len(paths) < WORTH_A_PROCESS:
        yield from (list(read_records(path)) for path in paths)
        return
    here = int(_HERE * len(paths))
    with Beside(lambda: [_plain(path) for path in paths[here:]]) as other:
        for path in paths[:here]:
            yield list(read_records(path))
        for file in other.finish():
            yield [_record(*parts) for parts in file]


def _plain(path: Path) -> list[tuple[Any, ...]]:
    """What a process can give back."""
    return [
        (record.data, record.why, record.io, [_parts(use) for use in record.calls])
        for record in read_records(path)
    ]


def _parts(use: FileUse) -> tuple[Any, ...]:
    """All that a Kickstart record says of a file."""
    told = (use.bytes_read, use.bytes_written)
    return (use.name, use.path, use.size, use.output, *told)


def _record(data: Any, why: str, io: Any, calls: list[tuple[Any, ...]]) -> RecordText:
    return RecordText(data, why, io, tuple(FileUse(*use) for use in calls))
