"""A Lua to try our hooks with: a program, or the library that Slurm's plugin loads."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import shutil
import tempfile
from typing import Any

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.process import ask

_VERSIONS = ("5.1", "5.4", "5.3", "5.2")  # the first one is what Slurm is built with
_PROGRAMS = ("lua", *(f"lua{v}" for v in _VERSIONS), "luajit")


def why_not(text: str) -> str:
    """Return what Lua says against running ``text``; empty: it runs to its end.

    Raises UsageError where this host has no Lua.
    """
    with tempfile.TemporaryDirectory(prefix="pegasus-bb-") as folder:
        path = os.path.join(folder, "hooks.lua")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        program = find_program()
        if program:
            answer = ask([program, path], timeout=30.0)
            why = answer.err.strip() or f"{program}: exit status {answer.status}"
            return why if answer.status else ""
    library = _library()
    if library is None:
        raise UsageError(
            "this host has no Lua, so the hooks cannot be tried before slurmctld "
            "reads them; install lua5.1, or run this where slurmctld runs"
        )
    return _why_not(library, text)


def find_program() -> str | None:
    """Return the name of a Lua on PATH."""
    return next(filter(shutil.which, _PROGRAMS), None)


def _library() -> Any:
    for version in _VERSIONS:
        name = ctypes.util.find_library(f"lua{version}")
        name = name or ctypes.util.find_library(f"lua-{version}")
        if name:
            return ctypes.CDLL(name)
    return None


def _why_not(library: Any, text: str) -> str:
    library.luaL_newstate.restype = ctypes.c_void_p
    library.lua_tolstring.restype = ctypes.c_char_p
    state = ctypes.c_void_p(library.luaL_newstate())
    library.luaL_openlibs(state)
    try:
        bad = library.luaL_loadstring(state, text.encode()) or _call(library, state)
        if not bad:
            return ""
        return (library.lua_tolstring(state, -1, None) or b"?").decode(errors="replace")
    finally:
        library.lua_close(state)


def _call(library: Any, state: Any) -> int:
    """lua_pcall is a macro since Lua 5.2 (lua.h)."""
    if hasattr(library, "lua_pcallk"):
        return int(library.lua_pcallk(state, 0, 0, 0, ctypes.c_ssize_t(0), None))
    return int(library.lua_pcall(state, 0, 0, 0))
