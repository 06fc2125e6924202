"""Our hooks in the folder of a slurm.conf: tried, then renamed into place.

``pegasus-bb site install`` does this, and ``python3 -m pegasus_bb.stager.slurm`` where
only Python is.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import re
import shutil
from typing import Any

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import read_text, sync_directory, write_text
from pegasus_bb.core.process import ask
from pegasus_bb.stager.messages import as_usage_errors

_TEMPLATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates")
_TEMPLATE = os.path.join(_TEMPLATES, "burst_buffer.lua")
_CALLS = os.path.join(_TEMPLATES, "dry_call.lua")
_SLURM = "slurm = {SUCCESS=0, ERROR=-1, log_info=print, log_error=function() end}\n"
OURS = "-- Hooks of Slurm's burst_buffer/lua, for the staging service of pegasus_bb.\n"
_SPOOL = 'local SPOOL = "/var/spool/pegasus-bb"\n'
_ANY_SPOOL = re.compile(r'(?m)^local SPOOL = "[^"\n]*"$')
_NOWHERE = 'local SPOOL = "/nonexistent/pegasus-bb"'
_OLDEST = (24, 5)  # test_data_in and test_data_out came with it
_VERSION = re.compile(r"slurm(?:-wlm)? (\d+)\.(\d+)\S*")

FUNCTIONS = (
    "job_process",
    "setup",
    "data_in",
    "test_data_in",
    "real_size",
    "paths",
    "pre_run",
    "post_run",
    "data_out",
    "test_data_out",
    "job_teardown",
    "pools",
    "get_status",
)
"""What Slurm 24.05 and later looks for, each after ``slurm_bb_``."""

_LUAS = ("5.1", "5.4", "5.3", "5.2")  # the first one is what Slurm is built with
_PROGRAMS = ("lua", *(f"lua{v}" for v in _LUAS), "luajit")
HOOKS = "burst_buffer.lua"
BEFORE = "burst_buffer.lua.before"
_CONF = "slurm.conf"
_ASKED = ("slurmctld", "scontrol")
_TYPE = re.compile(r"^\s*BurstBufferType\s*=\s*(\S+)", re.MULTILINE | re.IGNORECASE)
LINES = """\
slurm.conf, then restart slurmctld:
  BurstBufferType=burst_buffer/lua

burst_buffer.conf, beside it:
  Flags=TeardownFailure
  PollInterval=10
  StageInTimeout=86400
  StageOutTimeout=86400
  OtherTimeout=300
"""


def hooks_done(folder: str, spool: str, *, undo: bool) -> str:
    """Install the hooks, or take them out; what to tell the administrator. Raises
    UsageError, see below."""
    if undo:
        path = take_out(folder)
        is_back = os.path.lexists(path)
        return f"{path}: {'what was there before is back' if is_back else 'removed'}\n"
    return f"{install(folder, spool)}: tried, and in place\n\n{LINES}"


def install(folder: str, spool: str) -> str:
    """Put burst_buffer.lua into ``folder``; its path. What another made is kept as
    burst_buffer.lua.before.

    Raises UsageError, with nothing changed, where the hooks do not run in the Lua of
    this host, its Slurm is too old, or ``folder`` has no slurm.conf.
    """
    _check_folder(folder)
    _check_slurm()
    text = hooks_text(spool)
    path = os.path.join(folder, HOOKS)
    why = why_not(dry_run_text(text))
    if why:
        raise UsageError(f"the hooks do not run in the Lua of this host: {why}")
    with as_usage_errors():
        _keep(folder)
        write_text(path, text)  # by one rename: slurmctld must never miss it
    return path


def take_out(folder: str) -> str:
    """Undo ``install``; what was there before, or is not there any more.

    Raises UsageError where slurmctld would miss the file: without it a restart ends
    slurmctld.
    """
    _check_folder(folder)
    path = os.path.join(folder, HOOKS)
    before = os.path.join(folder, BEFORE)
    with as_usage_errors():
        if not os.path.lexists(path) or not _is_ours(read_text(path)):
            raise UsageError(f"{path} is not there, or is not ours; nothing is changed")
        if os.path.lexists(before):
            os.rename(before, path)
        else:
            _check_unused(folder)
            os.unlink(path)
        sync_directory(folder)
    return path


def missing_functions(text: str) -> list[str]:
    """Return the functions of Slurm 24.05 that a burst_buffer.lua does not have."""
    names = [f"slurm_bb_{name}" for name in FUNCTIONS]
    defined = r"(?m)^\s*(function\s+{0}\s*\(|{0}\s*=)"
    return [name for name in names if not re.search(defined.format(name), text)]


def _check_folder(folder: str) -> None:
    if not os.path.isfile(os.path.join(folder, _CONF)):
        raise UsageError(
            f"{folder} has no {_CONF}; name the folder that `scontrol show config` "
            "prints as SLURM_CONF"
        )


def _check_slurm() -> None:
    """slurmctld calls the hooks. Where only scontrol is on PATH, it answers for it;
    where neither is, Slurm cannot be asked."""
    answers = (ask([name, "-V"], timeout=20.0).out.strip() for name in _ASKED)
    why = why_too_old(next(filter(is_version, answers), ""))
    if why:
        raise UsageError(f"{why}; they need Slurm 24.05 or later")


def _keep(folder: str) -> None:
    """Copy what another made. Raises UsageError where one is kept already."""
    path = os.path.join(folder, HOOKS)
    before = os.path.join(folder, BEFORE)
    text = read_text(path) if os.path.lexists(path) else ""
    if not text or _is_ours(text):
        return
    if os.path.lexists(before):
        raise UsageError(
            f"{path} and {before} are both not ours; move one of them elsewhere, for "
            "one can be kept"
        )
    write_text(before, text)


def _check_unused(folder: str) -> None:
    conf = os.path.join(folder, _CONF)
    found = _TYPE.search(read_text(conf))
    if found and found[1] == "burst_buffer/lua":
        raise UsageError(
            f"{conf} says BurstBufferType=burst_buffer/lua, and slurmctld ends at its "
            f"next start where {HOOKS} is missing; take that line out and restart "
            "slurmctld first"
        )


def _is_ours(text: str) -> bool:
    return text.startswith(OURS)


def hooks_text(spool: str) -> str:
    """Return the file for a service with folder ``spool``. Raises UsageError."""
    if not spool.startswith("/") or not spool.isprintable() or set(spool) & set('"\\'):
        raise UsageError(f"spool {spool!r}: an absolute path without quotes")
    return read_text(_TEMPLATE).replace(_SPOOL, f'local SPOOL = "{spool}"\n')


def dry_run_text(hooks: str) -> str:
    """Return a program that calls each function of ``hooks`` once, and finds nothing.
    Hooks of others, which may do something, are only loaded."""
    text, is_ours = _ANY_SPOOL.subn(_NOWHERE, hooks)
    if not (is_ours and hooks.startswith(OURS)):
        return f"{_SLURM}{hooks}"
    return f"{_SLURM}{text}\n{read_text(_CALLS)}"


def is_version(answer: str) -> bool:
    """Tell whether that is an answer of ``scontrol --version``."""
    return _VERSION.fullmatch(answer) is not None


def why_too_old(answer: str) -> str:
    """Return what is wrong with the Slurm that answers so; empty: nothing that
    we know of."""
    found = _VERSION.fullmatch(answer)
    if found is None or (int(found[1]), int(found[2])) >= _OLDEST:
        return ""
    return f"{answer} has 11 of the 13 functions that our hooks need"


def why_not(text: str) -> str:
    """Return what Lua says against running ``text``; empty: it runs to its end. Lua is
    a program, or the library that Slurm's plugin loads.

    Raises UsageError where this host has no Lua.
    """
    program = find_program()
    if program:
        answer = ask([program, "-"], timeout=30.0, stdin=text)
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
    for version in _LUAS:
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
