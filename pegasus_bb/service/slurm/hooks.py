"""Our burst_buffer.lua, as a site has it in the folder of its slurm.conf."""

from __future__ import annotations

import os

from pegasus_bb.errors import UsageError

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_TEMPLATE = os.path.join(_PACKAGE, "templates", "slurm", "burst_buffer.lua")
_CALLS = os.path.join(_PACKAGE, "templates", "slurm", "dry_call.lua")
_SLURM = "slurm = {SUCCESS=0, ERROR=-1, log_info=print, log_error=function() end}\n"
OURS = "-- Hooks of Slurm's burst_buffer/lua, for the staging service of pegasus_bb.\n"
_SPOOL = 'local SPOOL = "/var/spool/pegasus-bb"\n'

FUNCTIONS = (
    *("job_process", "setup", "data_in", "test_data_in", "real_size", "paths"),
    *("pre_run", "post_run", "data_out", "test_data_out", "job_teardown"),
    *("pools", "get_status"),
)
"""What Slurm 24.05 and later looks for, each after ``slurm_bb_``."""


def hooks_text(spool: str) -> str:
    """The file for a service whose spool folder is ``spool``. Raises UsageError."""
    if not spool.startswith("/") or not spool.isprintable() or set(spool) & set('"\\'):
        raise UsageError(f"spool {spool!r}: an absolute path without quotes")
    with open(_TEMPLATE, encoding="utf-8") as file:
        text = file.read()
    if text.count(_SPOOL) != 1:
        raise UsageError(f"{_TEMPLATE}: is not ours: it has no line {_SPOOL.strip()}")
    return text.replace(_SPOOL, f'local SPOOL = "{spool}"\n')


def dry_run_text() -> str:
    """A program that calls each function once; nothing is where it looks."""
    with open(_CALLS, encoding="utf-8") as file:
        return _SLURM + hooks_text("/nonexistent/pegasus-bb") + file.read()
