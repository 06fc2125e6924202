"""Preloads the Darshan library that planning has chosen into a task.

The logs go below the submit directory, where ``pegasus-bb report`` finds them.
"""

from __future__ import annotations

import os
import sys
import time

NOTE = "darshan.json"  # in the bb folder: {"library": PATH}
SETTINGS = "darshan.conf"  # there as well, in Darshan's own form
# Darshan ignores /dev by default, but a tier may be in /dev/shm. It records 1024 files
# by default, too few for a task that unpacks an archive.
CONFIGURATION = b"""NAME_INCLUDE ^/dev/shm/ *
MAX_RECORDS 20000 POSIX,STDIO
MODMEM 64
NAMEMEM 16
"""
_CONFIG = "DARSHAN_CONFIG_PATH"
LOGS = "darshan"  # in the submit directory
_DAY = 86400.0
# The library is not among the files of a container.
_CONTAINERS = ("apptainer", "singularity", "docker", "shifter")


def bb_folder() -> str:
    """The bb folder of the run, from the path of this program or of the launcher."""
    return os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[0])))


def with_darshan(bb: str, program: str, environ: dict[str, str]) -> dict[str, str]:
    """``environ`` for the task ``program`` of the run whose bb folder is ``bb``.

    Unchanged if no library is chosen, if this node has none, or if the task is one of
    our own programs. A task never fails because Darshan cannot record it.
    """
    note = os.path.join(bb, NOTE)
    if not os.path.exists(note):
        return environ
    ours = os.path.realpath(os.path.join(bb, "bin"))
    if os.path.dirname(os.path.realpath(program)) == ours:
        return environ
    if os.path.basename(program) in _CONTAINERS:
        return environ
    try:
        node = environ.get("PEGASUS_DAG_JOB_ID", "")
        changed = with_preload(_library(note), _folder(bb, node), environ)
        return {_CONFIG: os.path.join(bb, SETTINGS), **changed}
    except (OSError, ValueError, KeyError, TypeError):
        return environ


def with_preload(library: str, logs: str, environ: dict[str, str]) -> dict[str, str]:
    """``environ`` with ``library`` before other preloaded libraries."""
    before = environ.get("LD_PRELOAD", "")
    return {
        **environ,
        "LD_PRELOAD": f"{library} {before}".strip(),
        "DARSHAN_ENABLE_NONMPI": "1",
        "DARSHAN_LOGPATH": logs,
    }


def make_log_folders(logs: str) -> None:
    """Make LOGS/year/month/day, which Darshan does not make itself. The day is that of
    a process's start, so tomorrow's folder is made as well. Raises OSError."""
    for moment in (time.time(), time.time() + _DAY):
        day = time.localtime(moment)
        parts = (str(day.tm_year), str(day.tm_mon), str(day.tm_mday))
        os.makedirs(os.path.join(logs, *parts), exist_ok=True)


def _library(note: str) -> str:
    from pegasus_bb.core.files import read_json

    library = str(read_json(note)["library"])
    if not os.path.isfile(library):
        raise OSError(f"{library}: not on this node")
    return library


def _folder(bb: str, node: str) -> str:
    """The log folder of ``node``, so that each log is known to be of this node."""
    own = node if "/" not in node else ""
    logs = os.path.join(os.path.dirname(os.path.abspath(bb)), LOGS, own).rstrip("/")
    make_log_folders(logs)
    return logs
