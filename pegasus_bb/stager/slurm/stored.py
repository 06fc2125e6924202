"""Records on disk, read back: one that is damaged is refused, never taken for empty.

The folders that a damaged record describes are not touched: no service starts before an
administrator has looked at it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import read_json
from pegasus_bb.stager.config_checks import can_be_written


def damaged(path: str, why: object) -> UsageError:
    """What to say of a record that cannot be used."""
    return UsageError(
        f"{path} is damaged: {why}. Nothing was changed. Put a copy of the file back, "
        "or move it away: its folders stay (docs/slurm-lua.md, A damaged record)"
    )


def read_record(
    path: str, like: dict[str, Any], needed: Sequence[str]
) -> dict[str, Any]:
    """The object in ``path``. Raises OSError; UsageError where it is damaged."""
    return check_record(path, read_stored(path), like, needed)


def read_stored(path: str) -> Any:
    """The JSON in ``path``. Raises OSError; UsageError where there is none."""
    try:
        return read_json(path)
    except ValueError as error:
        raise damaged(path, error) from error


def check_record(
    path: str, data: Any, like: dict[str, Any], needed: Sequence[str]
) -> dict[str, Any]:
    """``data`` where it is an object with the keys ``needed``, and each value that
    ``like`` has, too, is of the same type. An earlier version may have written fewer
    keys and a later one more, but neither does both. Raises UsageError."""
    if not isinstance(data, dict):
        raise damaged(path, f"{str(data)[:40]!r} is no object")
    for key in needed:
        if key not in data:
            raise damaged(path, f"it has no {key}")
    unknown = data.keys() - like.keys()
    absent = like.keys() - data.keys()
    if unknown and absent:
        raise damaged(path, f"it has {min(unknown)[:40]!r} and no {min(absent)}")
    for key, value in data.items():
        if key in like and not _is_like(value, like[key]):
            raise damaged(path, f"{key}: {str(value)[:40]!r}")
    return data


def known(data: dict[str, Any], like: dict[str, Any]) -> dict[str, Any]:
    """``data`` without what a later version has written beside."""
    return {key: value for key, value in data.items() if key in like}


def record_names(folder: str) -> Iterator[str]:
    """The full names of all records in ``folder``."""
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            yield os.path.join(folder, name)


def _is_like(value: Any, like: Any) -> bool:
    """The elements of a list are compared with the first one of ``like``, if it has
    any."""
    if like is None:
        return value is None or type(value) is int
    if isinstance(like, str):
        return isinstance(value, str) and can_be_written(value)
    if isinstance(like, list):
        elements = like[:1] * len(value) if isinstance(value, list) else []
        return isinstance(value, list) and all(map(_is_like, value, elements))
    if isinstance(like, float):
        return type(value) in (int, float) and abs(value) < 1 << 40  # no NaN
    return type(value) is type(like)
