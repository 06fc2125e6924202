"""A program lua5.1 for hosts that have none: lupa's, which the tests need anyway."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pegasus_bb.stager.slurm import install_hooks
from tests.support.shebang import shebang

_PROGRAM = f"""{shebang()}
import sys
from lupa.lua51 import LuaError, LuaRuntime
assert sys.argv[1:] == ["-"]
try:
    LuaRuntime().execute(sys.stdin.read())
except LuaError as error:
    sys.exit(f"lua5.1: {{error}}")
"""


@pytest.fixture
def host_lua(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host's own Lua, or else ours, is on PATH: no test of it is left out."""
    if install_hooks.find_program():
        return
    folder: Path = tmp_path_factory.mktemp("lua")
    (folder / "lua5.1").write_text(_PROGRAM)
    (folder / "lua5.1").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
