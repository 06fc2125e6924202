"""Job lists: what pegasus-transfer and its like are told, a file beside the .sub."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import orjson

from pegasus_bb.dag.nodes import Dag
from pegasus_bb.errors import CatalogError

Entries = Sequence[dict[str, Any]]
_MOST = 1 << 16  # bytes at once


def job_lists(dag: Dag, submit_dir: Path) -> Callable[[str], Entries]:
    """The job list of the node of that name, each read once and only when it is asked
    for; empty where there is none. The function raises CatalogError."""

    @cache
    def entries(name: str) -> Entries:
        node = dag.nodes[name]
        file = os.path.join(submit_dir, node.directory, node.submit_file)  # noqa: PTH118
        return _read(os.path.splitext(file)[0] + ".in")  # noqa: PTH122 - thousands

    return entries


def path_of(url: str) -> str:
    """``file://host/a/./b`` and ``symlink:///a/b`` are /a/b."""
    path = "/" + url.partition("://")[2].partition("/")[2]
    plain = "/." not in path and "//" not in path and not path.endswith("/")
    return path if plain else posixpath.normpath(path)


def _bytes_of(file: str) -> bytes:
    """A file object makes three system calls more, for each of thousands of lists."""
    handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return b"".join(iter(partial(os.read, handle, _MOST), b""))
    finally:
        os.close(handle)


def _read(file: str) -> Entries:
    """A task may have a transfer's name and no list."""
    try:
        found = orjson.loads(_bytes_of(file))
        if not isinstance(found, list) or not all(isinstance(e, dict) for e in found):
            raise ValueError("not a list of transfers")
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise CatalogError(
            f"the job list cannot be read: {error}", file, would_do="plan again"
        ) from error
    return found
