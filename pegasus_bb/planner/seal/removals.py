"""Which stage-outs must come before each clean-up, told by their job lists."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson

from pegasus_bb.errors import CatalogError
from pegasus_bb.planner.dag import Dag

Entries = Iterable[Mapping[str, Any]]
_STAGE_OUT = ("stage_out_local_", "stage_out_remote_")
_CLEAN_UP = ("clean_up_", "cleanup_")


def removals(
    names: Iterable[str], entries: Callable[[str], Entries]
) -> dict[str, set[str]]:
    """Clean-up node -> the stage-outs of what it removes.

    ``entries`` gives the job list of a node, as pegasus-transfer reads it.
    """
    listed = list(names)
    saved: dict[str, set[str]] = {}  # path on the site -> the nodes that bring it away
    for name in (name for name in listed if name.startswith(_STAGE_OUT)):
        for entry in entries(name):
            for source in entry.get("src_urls", ()):
                saved.setdefault(_path(source), set()).add(name)
    return {
        name: {
            node
            for entry in entries(name)
            if "target" in entry
            for node in _removed(entry["target"], saved)
        }
        for name in listed
        if name.startswith(_CLEAN_UP)
    }


def removals_on_disk(dag: Dag, submit_dir: Path) -> dict[str, set[str]]:
    """As ``removals``, of what stands in ``submit_dir``. Raises CatalogError."""

    def entries(name: str) -> Entries:
        node = dag.nodes[name]
        file = submit_dir / node.directory / node.submit_file
        return _job_list(file.with_suffix(".in"))

    return removals(dag.nodes, entries)


def _removed(target: Mapping[str, Any], saved: Mapping[str, set[str]]) -> set[str]:
    path = _path(target)
    if str(target.get("recursive", "")).lower() != "true":
        return saved.get(path, set())
    below = path.rstrip("/") + "/"
    return {
        name
        for place, names in saved.items()
        if place == path or place.startswith(below)
        for name in names
    }


def _path(place: Mapping[str, Any]) -> str:
    """``file://host/a/./b`` and ``symlink:///a/b`` are /a/b."""
    rest = str(place.get("url", "")).partition("://")[2]
    path = "/" + rest.partition("/")[2]
    plain = "/." not in path and "//" not in path and not path.endswith("/")
    return path if plain else posixpath.normpath(path)


def _job_list(file: Path) -> Entries:
    """Empty where there is none: a task may have such a name."""
    try:
        found = orjson.loads(file.read_bytes())
        if not isinstance(found, list) or not all(isinstance(e, dict) for e in found):
            raise ValueError("not a list of transfers")
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise CatalogError(
            f"the job list cannot be read: {error}", str(file), would_do="plan again"
        ) from error
    return found
