"""Job lists as pegasus-transfer reads them on stdin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from pegasus_bb.planner.builtin.executable import Source

Entry = dict[str, Any]
_FIRST_PRIORITY = 50  # pegasus-transfer tries the highest first


def fetch(lfn: str, sources: Sequence[Source], site: str, url: str) -> Entry:
    """Bring an input to the site."""
    ranked = [
        {"site_label": s.site, "url": s.url, "priority": max(_FIRST_PRIORITY - n, 0)}
        for n, s in enumerate(sources)
    ]
    return _transfer("input", lfn, ranked, {"site_label": site, "url": url})


def fetch_program(lfn: str, sources: Sequence[Source], site: str, url: str) -> Entry:
    """Bring an executable to the site; it can be run there."""
    return {**fetch(lfn, sources, site, url), "executable": True}


def deliver(lfn: str, site: str, url: str, output_site: str, to: str) -> Entry:
    """Bring a result to where the user wants it."""
    here, there = {"site_label": site, "url": url}, {"site_label": output_site}
    return _transfer("output", lfn, [here], {**there, "url": to})


def make_directory(site: str, url: str) -> Entry:
    """Make a folder and those above it."""
    return {"type": "mkdir", "target": {"site_label": site, "url": url}}


def remove(site: str, url: str, recursive: bool) -> Entry:
    """Remove a file, or a folder with everything in it."""
    target = {"site_label": site, "url": url, "recursive": str(recursive)}
    return {"type": "remove", "target": target}


def job_list(entries: Sequence[Entry]) -> bytes:
    """The whole list, numbered from 1."""
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
