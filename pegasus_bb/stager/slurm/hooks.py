"""Our burst_buffer.lua, as a site has it in the folder of its slurm.conf."""

from __future__ import annotations

import os
import re

from pegasus_bb.core.errors import UsageError

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


def hooks_text(spool: str) -> str:
    """Return the file for a service with folder ``spool``. Raises UsageError."""
    if not spool.startswith("/") or not spool.isprintable() or set(spool) & set('"\\'):
        raise UsageError(f"spool {spool!r}: an absolute path without quotes")
    with open(_TEMPLATE, encoding="utf-8") as file:
        text = file.read()
    if text.count(_SPOOL) != 1:
        raise UsageError(f"{_TEMPLATE}: is not ours: it has no line {_SPOOL.strip()}")
    return text.replace(_SPOOL, f'local SPOOL = "{spool}"\n')


def dry_run_text(hooks: str) -> str:
    """Return a program that calls each function of ``hooks`` once, and finds nothing.
    Hooks of others, which may do something, are only loaded."""
    text, is_ours = _ANY_SPOOL.subn(_NOWHERE, hooks)
    if not (is_ours and hooks.startswith(OURS)):
        return f"{_SLURM}{hooks}"
    with open(_CALLS, encoding="utf-8") as file:
        return f"{_SLURM}{text}\n{file.read()}"


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
