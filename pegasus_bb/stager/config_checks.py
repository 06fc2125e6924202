"""What all parts of a configuration check. ``where``: the file, and the part of it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any, Callable, TypeVar

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.paths import is_below

NAME = re.compile("[a-z][a-z0-9_-]{0,31}")  # of a dataspace and of a pool

Value = TypeVar("Value")


def check(good: Any, where: str, wanted: str, found: Any) -> None:
    """Raises UsageError."""
    if not good:
        raise UsageError(f"{where}: {wanted}; found {found!r}")


def check_keys(where: str, data: Any, keys: Sequence[str]) -> None:
    """``data`` is an object with some of ``keys``. Raises UsageError."""
    check(isinstance(data, dict), where, "an object", data)
    unknown = sorted(set(data) - set(keys))
    check(not unknown, where, f"the keys are {', '.join(keys)}", unknown)


def parsed(parse: Callable[[Any], Value], where: str, key: str, value: Any) -> Value:
    """``value`` of ``key`` by ``parse``. Raises UsageError."""
    try:
        return parse(value)
    except UsageError as error:
        raise UsageError(f"{where}: {key}: {error}") from error


def folder(where: str, key: str, value: Any) -> str:
    """The path in ``key``: of a folder, or of nothing yet. Raises UsageError."""
    path = value if isinstance(value, str) and can_be_written(value) else ""
    good = os.path.isabs(path) and "\0" not in path and ".." not in path.split("/")
    check(good, where, f"{key}: an absolute path", value)
    is_free = os.path.isdir(path) or not os.path.lexists(path)
    check(is_free, where, f"{key}: a folder; name one, or remove what is there", path)
    return os.path.normpath(path)


def can_be_written(text: str) -> bool:
    """Whether a path or a file can have ``text``: JSON can say halves of characters."""
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def check_apart(where: str, own: dict[str, str], pools: dict[str, str]) -> None:
    """No two of these folders are one. None lies in a pool: a buffer could get its
    name. None of ``own`` lies in another: what is not known there is removed. Both are
    by their keys. Raises UsageError."""
    real = {key: os.path.realpath(path) for key, path in {**own, **pools}.items()}
    for outer in real:
        for key, path in real.items():
            wanted = f"{key}: a folder outside that of {outer}"
            counts = key != outer and (outer in pools or key in own)
            check(not (counts and is_below(path, real[outer])), where, wanted, path)
    by_path: dict[str, str] = {}
    for key, path in real.items():
        other = by_path.setdefault(path, key)
        check(other == key, where, f"{key}: another folder than that of {other}", path)
