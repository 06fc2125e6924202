"""Job lists as tests write them, and a site on which they are done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PREFIX = "/bb/pbb4f1c2a9e"
SCRATCH = f"{PREFIX}/run0001"
Site = Any  # tests/runtime/conftest.py


def transfer(lfn: str, source: object, dest: object, **more: Any) -> dict[str, Any]:
    sources = source if isinstance(source, list) else [source]
    return {
        "type": "transfer",
        "lfn": lfn,
        "src_urls": [
            {"site_label": "s", "url": _url(url), "priority": 99 - n}
            for n, url in enumerate(sources)
        ],
        "dest_urls": [{"site_label": "d", "url": _url(dest)}],
        **more,
    }


def _url(place: object) -> str:
    text = str(place)
    return text if "://" in text else f"file://{text}"


def folder(kind: str, path: object, recursive: bool = False) -> dict[str, Any]:
    target = {"site_label": "s", "url": _url(path), "recursive": str(recursive)}
    return {"type": kind, "target": target}


def do(site: Site, *jobs: dict[str, Any], **more: Any) -> Any:
    done = site.start(
        "launch", site.program("transfer"), "--threads", "2",
        stdin=json.dumps(jobs), **more,
    )  # fmt: skip
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return done


def names(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.iterdir())
