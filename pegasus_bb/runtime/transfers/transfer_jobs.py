"""The job list that pegasus-transfer reads: transfers, mkdirs and removes, as JSON."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, Union

from pegasus_bb.core.errors import UsageError

LOCAL = ("file", "symlink", "moveto")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):(?://)?")
_LEADING_VARIABLE = re.compile(r"\$\{?([A-Za-z][A-Za-z0-9_]+)\}?")


class Url(NamedTuple):
    scheme: str
    path: str
    text: str  # as the list has it
    site: str = ""

    @property
    def is_local(self) -> bool:
        """Whether the file system can reach it."""
        return self.scheme in LOCAL


class Transfer(NamedTuple):
    """One file to transfer; sources and destinations, best first."""

    lfn: str
    sources: tuple[Url, ...]
    dests: tuple[Url, ...]
    executable: bool
    entry: Mapping[str, Any]  # as the list has it
    checksum: str = ""  # that a catalog declares, sha256:...

    @property
    def is_remote(self) -> bool:
        """Whether it brings a file that may come from another host."""
        there = any(not url.is_local for url in self.sources)
        return there and self.dests[0].is_local


class Mkdir(NamedTuple):
    url: Url
    entry: Mapping[str, Any]


class Remove(NamedTuple):
    url: Url
    recursive: bool
    entry: Mapping[str, Any]


Job = Union[Transfer, Mkdir, Remove]


def parse_url(text: str, site: str = "") -> Url:
    """Parse a URL as pegasus-transfer does: nothing in a path is %-decoded.

    A bare path is a file. A variable at the beginning of a path (``file://$PWD/x``) is
    expanded; any other ``$`` is part of the name. (pegasus-transfer silently turns
    ``a$b`` into ``a``.) Raises ValueError.
    """
    os.fsencode(text)  # raises ValueError: half a surrogate pair is no name
    match = _SCHEME.match(text)
    scheme = match.group(1).lower() if match else "file"
    if text.startswith(("/", "$")) or (scheme not in LOCAL and "://" not in text):
        return Url("file", _expanded(text), text, site)
    if scheme not in LOCAL:
        return Url(scheme, "", text, site)
    path = text[match.end() :] if match else text
    if scheme == "file" and path.startswith("localhost/"):
        path = path[len("localhost") :]
    return Url(scheme, _expanded(path), text, site)


def _expanded(path: str) -> str:
    match = _LEADING_VARIABLE.match(path)
    if match is None or match.group(1) not in os.environ:
        return path
    return os.environ[match.group(1)] + path[match.end() :]


# Errors of an entry with another structure, or with invalid numbers and names.
_ODD = (KeyError, TypeError, ValueError, AttributeError, OverflowError)


def read_jobs(text: str) -> list[Job]:
    """Every entry of a job list, in order. Raises UsageError."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the job list on stdin is not JSON: {error}") from error
    if not isinstance(data, list):
        raise UsageError("the job list on stdin is not a JSON list of jobs")
    jobs = []
    for number, entry in enumerate(data, start=1):
        try:
            jobs.append(_job(entry))
        except _ODD as error:
            what = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise UsageError(f"job list, entry {number}: {what}") from error
    return jobs


def _job(entry: dict[str, Any]) -> Job:
    kind = entry["type"]
    if kind == "transfer":
        sources = _urls(entry["src_urls"])
        dests = _urls(entry["dest_urls"])
        if not sources or not dests:
            raise ValueError("a transfer needs a source and a destination")
        lfn = str(entry.get("lfn") or "")
        executable = _flag(entry.get("executable"))
        checksum = str(entry.get("checksum") or "")
        return Transfer(lfn, sources, dests, executable, entry, checksum)
    if kind not in ("mkdir", "remove"):
        raise ValueError(f"type {kind!r} is not one of transfer, mkdir, remove")
    target = entry["target"]
    url = parse_url(target["url"], target.get("site_label", ""))
    if kind == "mkdir":
        return Mkdir(url, entry)
    return Remove(url, _flag(target.get("recursive")), entry)


def _urls(entries: list[dict[str, Any]]) -> tuple[Url, ...]:
    """Highest priority first; among equals the order of the list."""
    ranked = sorted(entries, key=lambda url: -int(url.get("priority") or 0))
    return tuple(parse_url(url["url"], url.get("site_label", "")) for url in ranked)


def _flag(value: object) -> bool:
    return str(value).lower() in ("yes", "true", "t", "1")
