"""What the job lists of staging and cleaning up say: who brought a file, who removed
it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from pegasus_bb.model.run import Kind, Task

_LIMIT = 64 << 20  # bytes of a list, or a note


def entries(
    lists: Mapping[str, Path], task: Task, *kinds: Kind
) -> Iterator[Mapping[str, Any]]:
    """The job list of a task of one of ``kinds`` that has done all of it."""
    if task.kind not in kinds or task.exit_code != 0 or task.node not in lists:
        return
    listed = read_note(lists[task.node], list) or []
    yield from (entry for entry in listed if isinstance(entry, dict))


def read_note(path: Path, kind: type) -> Any:
    """What the JSON file at ``path`` has, where that is of this kind; else None."""
    try:
        with path.open("rb") as source:
            found = orjson.loads(source.read(_LIMIT))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, kind) else None
