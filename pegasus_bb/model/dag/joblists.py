"""Job lists: what pegasus-transfer reads on stdin, from an .in file beside the .sub."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.core.paths import local_path
from pegasus_bb.model.dag.nodes import Dag

Entry = dict[str, Any]
Entries = Sequence[Entry]
JobLists = Callable[[str], Entries]  # of a node, by its name
_FIRST_PRIORITY = 50  # pegasus-transfer tries the highest first


def job_lists(dag: Dag, submit_dir: Path) -> JobLists:
    """A function from a node's name to its job list, empty if it has none. A list is
    read once, when it is first needed. The function raises CatalogError."""

    @cache
    def entries(name: str) -> Entries:
        node = dag.nodes[name]
        file = os.path.join(submit_dir, node.directory, node.submit_file)  # noqa: PTH118
        return _read(os.path.splitext(file)[0] + ".in")  # noqa: PTH122 - thousands

    return entries


def path_of(url: str) -> str:
    """The path of a URL: /a/b for ``file://host/a/./b``, ``file:/a/b`` and
    ``symlink:///a/b``."""
    path = local_path(url) or "/" + url.partition("://")[2].partition("/")[2]
    plain = "/." not in path and "//" not in path and not path.endswith("/")
    return path if plain else posixpath.normpath(path)


def _read(file: str) -> Entries:
    """Empty if there is no such file: a task may be named like a transfer."""
    try:
        entries: Entries = orjson.loads(Path(file).read_bytes())
        is_list = isinstance(entries, list)
        if not is_list or not all(isinstance(entry, dict) for entry in entries):
            raise ValueError("not a list of transfers")
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise CatalogError(
            f"the job list cannot be read: {error}", file, would_do="plan again"
        ) from error
    return entries


@dataclass(frozen=True, slots=True)
class TransferSource:
    site: str
    url: str


def fetch(
    lfn: str,
    sources: Sequence[TransferSource],
    site: str,
    url: str,
    *,
    checksum: str = "",
) -> Entry:
    """``checksum``: what the file must have, as sha256:...; empty: unknown."""
    ranked = [
        {"site_label": s.site, "url": s.url, "priority": max(_FIRST_PRIORITY - n, 0)}
        for n, s in enumerate(sources)
    ]
    entry = _transfer("input", lfn, ranked, {"site_label": site, "url": url})
    return {**entry, "checksum": checksum} if checksum else entry


def deliver(lfn: str, site: str, url: str, output_site: str, to: str) -> Entry:
    here = {"site_label": site, "url": url}
    there = {"site_label": output_site}
    return _transfer("output", lfn, [here], {**there, "url": to})


def make_directory(site: str, url: str) -> Entry:
    return {"type": "mkdir", "target": {"site_label": site, "url": url}}


def remove(site: str, url: str, *, recursive: bool) -> Entry:
    target = {"site_label": site, "url": url, "recursive": str(recursive)}
    return {"type": "remove", "target": target}


def job_list(entries: Sequence[Entry]) -> bytes:
    numbered = [{"id": number, **entry} for number, entry in enumerate(entries, 1)]
    return orjson.dumps(
        numbered, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    )


def _transfer(
    linkage: str, lfn: str, sources: list[Entry], destination: Entry
) -> Entry:
    return {
        "type": "transfer",
        "linkage": linkage,
        "lfn": lfn,
        "src_urls": sources,
        "dest_urls": [destination],
    }
