"""What other distributions add: entry points, looked for only where one is needed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

COMMANDS = "pegasus_bb.commands"
STREAMS = "pegasus_bb.streams"


@cache
def plugins(group: str) -> dict[str, EntryPoint]:
    """The entry points of ``group`` by name; none of them is loaded."""
    from importlib.metadata import entry_points  # most commands need none

    return {entry.name: entry for entry in entry_points(group=group)}


def plugin(group: str, name: str) -> Any:
    """Load what a distribution offers as ``name``; None if none does."""
    found = plugins(group).get(name)
    return found.load() if found else None
