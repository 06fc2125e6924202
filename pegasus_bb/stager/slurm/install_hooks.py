"""Our hooks in the folder of a slurm.conf: tried, then renamed into place.

``pegasus-bb site install`` does this, and ``python3 -m pegasus_bb.stager.slurm`` where
only Python is.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import sync_directory, write_text
from pegasus_bb.core.process import ask
from pegasus_bb.stager.messages import message_of
from pegasus_bb.stager.slurm.hooks import (
    FUNCTIONS,
    OURS,
    dry_run_text,
    hooks_text,
    is_version,
    why_too_old,
)
from pegasus_bb.stager.slurm.lua_interpreter import why_not

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
    with _errors_as_sentences():
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
    with _errors_as_sentences():
        if not os.path.lexists(path) or not _is_ours(_read(path)):
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
    text = _read(path) if os.path.lexists(path) else ""
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
    found = _TYPE.search(_read(conf))
    if found and found[1] == "burst_buffer/lua":
        raise UsageError(
            f"{conf} says BurstBufferType=burst_buffer/lua, and slurmctld ends at its "
            f"next start where {HOOKS} is missing; take that line out and restart "
            "slurmctld first"
        )


def _is_ours(text: str) -> bool:
    return text.startswith(OURS)


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


@contextlib.contextmanager
def _errors_as_sentences() -> Iterator[None]:
    """Turn an OSError inside into a UsageError."""
    try:
        yield
    except OSError as error:
        raise UsageError(message_of(error)) from error
