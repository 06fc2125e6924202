"""Changes of what a user has written, by the path of a key."""

from __future__ import annotations

from typing import Any

REMOVE = object()


def put(data: Any, path: str, value: Any) -> None:
    """Set ``value`` at a path such as jobs/0/uses/+, where + appends; REMOVE takes it
    out."""
    *keys, last = path.split("/")
    for key in keys:
        data = data[int(key)] if isinstance(data, list) else data.setdefault(key, {})
    if last == "+":
        data.append(value)
        return
    at: Any = int(last) if isinstance(data, list) else last
    if value is REMOVE:
        del data[at]
    else:
        data[at] = value
