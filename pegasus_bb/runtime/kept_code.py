"""Modules of ours that a node keeps in one file: what a later start imports them from.

bin/<program> runs this file first, from that same file; so it may import only what
Python has built in.
"""

from __future__ import annotations

import marshal
import sys
from _frozen_importlib import ModuleSpec
from _imp import source_hash

TYPE_CHECKING = False  # importing typing takes longer than this file
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType
    from typing import Any

    # name -> is a package, hash and place of its byte code
    Index = Mapping[str, tuple[bool, bytes, int, int]]


class KeptCode:
    """Finds and loads modules whose byte code is in memory; for sys.meta_path."""

    def __init__(self, index: Index, code: memoryview, folder: str) -> None:
        """``folder``: has what is no Python, and gives the modules their paths."""
        self._index = index
        self._code = code
        self._folder = folder

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if name not in self._index:
            return None
        is_package = self._index[name][0]
        stem = f"{self._folder}/{name.replace('.', '/')}"
        origin = f"{stem}/__init__.py" if is_package else f"{stem}.py"
        loader: Any = self
        spec = ModuleSpec(name, loader, origin=origin, is_package=is_package)
        spec.has_location = True
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        """As Python does."""

    def exec_module(self, module: ModuleType) -> None:
        code = marshal.loads(self._checked(module.__name__))  # noqa: S302 - our own
        exec(code, module.__dict__)  # noqa: S102 - as every import does

    def _checked(self, name: str) -> memoryview:
        _, digest, begin, end = self._index[name]
        code = self._code[begin:end]
        if source_hash(0, code) != digest:
            raise ImportError(f"{self._folder}*: {name} is damaged; remove it")
        return code


def use(index: Index, code: memoryview, folder: str) -> None:
    """Import the modules of ``index`` from ``code``."""
    sys.meta_path.insert(0, KeptCode(index, code, folder))
