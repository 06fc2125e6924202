"""Which stage-outs must come before each clean-up, told by their job lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pegasus_bb.dag.joblists import Entries, path_of
from pegasus_bb.dag.roles import CLEANUPS, Role, of_role


def removals(
    names: Iterable[str], entries: Callable[[str], Entries]
) -> dict[str, set[str]]:
    """Clean-up node -> the stage-outs of what it removes.

    ``entries`` gives the job list of a node, as pegasus-transfer reads it.
    """
    listed = list(names)
    saved: dict[str, set[str]] = {}  # path on the site -> the nodes that bring it away
    for name in of_role(listed, Role.STAGE_OUT):
        for entry in entries(name):
            for source in entry.get("src_urls", ()):
                saved.setdefault(path_of(str(source.get("url", ""))), set()).add(name)
    return {
        name: {
            node
            for entry in entries(name)
            if "target" in entry
            for node in _removed(entry["target"], saved)
        }
        for name in of_role(listed, *CLEANUPS)
    }


def _removed(target: Mapping[str, Any], saved: Mapping[str, set[str]]) -> set[str]:
    path = path_of(str(target.get("url", "")))
    if str(target.get("recursive", "")).lower() != "true":
        return saved.get(path, set())
    below = path.rstrip("/") + "/"
    return {
        name
        for place, names in saved.items()
        if place == path or place.startswith(below)
        for name in names
    }
