"""A part of a configuration, read key by key: a mistake is named with its place."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Sequence
from typing import Any, Callable, TypeVar

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.paths import is_below
from pegasus_bb.core.units import parse_duration, parse_size
from pegasus_bb.runtime.stager_client.dataspace import Dataspace

_NAME = re.compile("[a-z][a-z0-9_-]{0,31}")  # of a dataspace and of a pool

Value = TypeVar("Value")


class Section:
    """A part of a configuration. ``where``: the file, and which part of it. Methods
    raise UsageError."""

    def __init__(self, where: str, data: Any, keys: Sequence[str]) -> None:
        """``data`` is an object with some of ``keys``."""
        self.where, self._data = where, data
        self.check(isinstance(data, dict), "an object", data)
        unknown = sorted(set(data) - set(keys))
        self.check(not unknown, f"the keys are {', '.join(keys)}", unknown)

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of ``key`` as it is written."""
        return self._data.get(key, default)

    def part(self, key: str, keys: Sequence[str]) -> Section:
        """Return the object in ``key``, which has some of ``keys``."""
        return Section(f"{self.where}: {key}", self.get(key), keys)

    def named(
        self, kind: str, keys: Sequence[str], example: str, taken: Container[str]
    ) -> dict[str, Section]:
        """Return the objects in the key ``kind``s by their names, none of which is
        ``taken``; each has some of ``keys``."""
        found = self.get(f"{kind}s")
        self.check(isinstance(found, dict) and found, f"{kind}s: {example}", found)
        for name in found:
            good = _NAME.fullmatch(name) and name not in taken
            self.check(good, f"a {kind} has a lower-case name", name)
        where = f"{self.where}: {kind}"
        return {name: Section(f"{where} {name}", found[name], keys) for name in found}

    def check(self, good: Any, wanted: str, found: Any) -> None:
        """Raises UsageError unless ``good``."""
        if not good:
            raise UsageError(f"{self.where}: {wanted}; found {found!r}")

    def parsed(self, parse: Callable[[Any], Value], key: str, default: Any) -> Value:
        """Return the value of ``key`` by ``parse``."""
        try:
            return parse(self.get(key, default))
        except UsageError as error:
            raise UsageError(f"{self.where}: {key}: {error}") from error

    def folder(self, key: str, default: str | None = None) -> str:
        """Return the path in ``key``: of a folder, or of nothing yet."""
        value = self.get(key, default)
        path = value if isinstance(value, str) else ""
        good = os.path.isabs(path) and "\0" not in path and ".." not in path.split("/")
        self.check(good, f"{key}: an absolute path", value)
        is_free = os.path.isdir(path) or not os.path.lexists(path)
        self.check(is_free, f"{key}: a folder; name one, or remove what is there", path)
        return os.path.normpath(path)

    def dataspace(self, name: str) -> Dataspace:
        """Return the dataspace ``name``, which this part describes."""
        target = self.get("target", name)
        wanted = "target: a name that other dataspaces may share"
        self.check(target and isinstance(target, str), wanted, target)
        path = self.folder("path")
        return Dataspace(name, path, target, self._rate(), self._discard())

    def _rate(self) -> float:
        """The bytes per second of ``rate``; 0: no limit."""
        text = str(self.get("rate", ""))
        try:
            speed = parse_size(text[:-2]) if text.endswith("/s") else 0
        except UsageError:
            speed = 0
        self.check(speed or "rate" not in self, "rate: 2GB/s", self.get("rate"))
        return float(speed)

    def _discard(self) -> float:
        """The seconds of ``discard``: no two discards begin within that time; 0: there
        is none."""
        if "discard" not in self:
            return 0.0
        seconds = float(self.parsed(parse_duration, "discard", None))
        wanted = "discard: 10m, at most so often"
        self.check(seconds > 0, wanted, self.get("discard"))
        return seconds

    def check_apart(self, own: dict[str, str], pools: dict[str, str]) -> None:
        """Check that no two folders are one. None lies in a pool: a buffer could get
        its name. None of ``own`` lies in another: what is not known there is removed.
        Both are by their keys."""
        real = {key: os.path.realpath(path) for key, path in {**own, **pools}.items()}
        by_path: dict[str, str] = {}
        for key, path in real.items():
            for outer in real:
                counts = key != outer and (outer in pools or key in own)
                wanted = f"{key}: a folder outside that of {outer}"
                self.check(not (counts and is_below(path, real[outer])), wanted, path)
            other = by_path.setdefault(path, key)
            wanted = f"{key}: another folder than that of {other}"
            self.check(other == key, wanted, path)
