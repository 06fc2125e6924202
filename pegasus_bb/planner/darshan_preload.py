"""The Darshan library that the tasks of a run preload: found, and tested once."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pegasus_bb.core.files import is_there
from pegasus_bb.core.process import ask
from pegasus_bb.model.properties import Properties, property_of
from pegasus_bb.runtime.darshan_preload import make_log_folders, with_preload

_KEY = property_of("darshan")
_NAME = "libdarshan.so"
_SYSTEM = ("/usr/local/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib")
_TRIAL = "/bin/cat"  # a program that is everywhere, and reads a file
_WOULD_DO = "the path of a libdarshan.so that was built without MPI, auto, or off"
_PLAIN = re.compile(r"[^\s:]+")  # ld.so takes blanks and colons for the next library


def check_darshan(properties: Properties, setting: str) -> str:
    """The library that ``setting`` (auto or a path) selects; empty: none.

    A path that exists only on compute nodes is not tested, as with a Python. Raises
    CatalogError if the library does not work on this machine.
    """
    if setting == "auto":
        return next((path for path in _candidates() if not darshan_fault(path)), "")
    if not setting.startswith("/") or not _PLAIN.fullmatch(setting):
        what = "not a full path without blanks and colons"
        raise properties.error(_KEY, what, _WOULD_DO)
    if is_there(setting) and (why := darshan_fault(setting)):
        raise properties.error(_KEY, f"it does not work here: {why}", _WOULD_DO)
    return setting


def _candidates() -> Iterator[str]:
    """Libraries on this machine: next to darshan-config, and where the loader looks."""
    config = shutil.which("darshan-config")
    prefix = Path(config).resolve().parent.parent if config else None
    folders = [str(prefix / name) for name in ("lib", "lib64")] if prefix else []
    folders += os.environ.get("LD_LIBRARY_PATH", "").split(":")
    for folder in dict.fromkeys([*folders, *_SYSTEM]):
        path = Path(folder, _NAME)
        if path.is_absolute() and _PLAIN.fullmatch(str(path)) and path.is_file():
            yield str(path)


def darshan_fault(library: str) -> str:
    """Why ``library`` cannot record a program without MPI; empty if it can.

    A library that was built with MPI may make every program fail.
    """
    with tempfile.TemporaryDirectory(prefix="pegasus-bb-darshan-") as folder:
        make_log_folders(folder)
        file = Path(folder, "read")
        file.write_bytes(b"x")
        environ = with_preload(library, folder, dict(os.environ))
        done = ask([_TRIAL, str(file)], timeout=20.0, env=environ)
        if done.status or done.err.strip():
            lines = done.err.strip().splitlines()
            return lines[-1][:200] if lines else f"exit code {done.status}"
        if not any(Path(folder).rglob("*.darshan")):
            return "it leaves no log where DARSHAN_LOGPATH says"
    return ""
