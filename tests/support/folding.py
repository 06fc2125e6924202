"""A folder whose file system takes several names for one, played in this process."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Fold = Callable[[str], str]


class Folding:
    """Below ``root`` a name leads to the entry that has the same ``fold``, as on a file
    system that keeps case, or another form of a name, and does not tell it."""

    def __init__(self, root: Path, fold: Fold, monkeypatch: pytest.MonkeyPatch) -> None:
        self._root, self._fold, self._list = str(root), fold, os.listdir
        one = ("open", "stat", "lstat", "mkdir", "unlink", "readlink")
        two = (
            "rename",
            "replace",
            "link",
            "symlink",
        )
        for name in one:
            monkeypatch.setattr(os, name, self._one(getattr(os, name)))
        for name in two:
            monkeypatch.setattr(os, name, self._two(getattr(os, name)))

    def _one(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def folded(path: Any, *more: Any, dir_fd: Any = None, **named: Any) -> Any:
            return call(self._entry(path, dir_fd), *more, dir_fd=dir_fd, **named)

        return folded

    def _two(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def folded(source: Any, dest: Any, **named: Any) -> Any:
            to = named.get("dst_dir_fd", named.get("dir_fd"))
            if call.__name__ != "symlink":
                source = self._entry(source, named.get("src_dir_fd"))
            return call(source, self._entry(dest, to), **named)

        return folded

    def _entry(self, path: Any, folder: int | None) -> Any:
        if not isinstance(path, str):
            return path
        parent, name = os.path.split(path)
        at = parent or "."
        if folder is not None:
            at = f"/proc/self/fd/{folder}/{parent}"
        real = os.path.realpath(at)
        if not f"{real}/".startswith(f"{self._root}/"):
            return path
        if folder is None:  # folders on the way
            below = real[len(self._root) + 1 :].split("/") if real != self._root else []
            real = self._root
            for each in below:
                real = f"{real}/{self._find(real, each)}"
            return f"{real}/{self._find(real, name)}"
        found = self._find(real, name)
        return f"{parent}/{found}" if parent else found

    def _find(self, folder: str, name: str) -> str:
        try:
            names = self._list(folder)
        except OSError:
            return name
        same = [each for each in names if self._fold(each) == self._fold(name)]
        return same[0] if same else name
