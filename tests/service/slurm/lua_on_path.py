"""A Lua 5.1 for a host that has none: programs of its names, which run it by lupa."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

_PROGRAM = """#!{python}
import sys
from lupa import lua51

runtime = lua51.LuaRuntime()
words = sys.argv[1:]
try:
    load = "return assert(loadfile(...))" if words[0] == "-p" else "return dofile(...)"
    runtime.execute(load, words[-1])
except lua51.LuaError as error:
    sys.exit(str(error))
"""


@pytest.fixture
def lua_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``lua`` and ``luac``, before any other of this host."""
    folder = tmp_path / "lua-programs"
    folder.mkdir()
    for name in ("lua", "luac"):
        (folder / name).write_text(_PROGRAM.format(python=sys.executable))
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
