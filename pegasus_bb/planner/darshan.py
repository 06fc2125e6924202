"""Which Darshan runtime the tasks of a run are to preload: found, and tried once."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pegasus_bb.files import is_there
from pegasus_bb.model.properties import Properties, property_of
from pegasus_bb.process import ask
from pegasus_bb.runtime.darshan import make_log_folders, preloaded

_KEY = property_of("darshan")
_NAME = "libdarshan.so"
_SYSTEM = ("/usr/local/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib")
_TRIAL = "/bin/cat"  # a program that is everywhere, and reads a file
_WOULD_DO = "the path of a libdarshan.so that was built without MPI, auto, or off"
_PLAIN = re.compile(r"[^\s:]+")  # ld.so takes blanks and colons for the next library


def tried_darshan(properties: Properties, said: str) -> str:
    """The library that ``said`` comes to, off, auto or a path; empty: none.

    A path that only compute nodes have is taken on trust, as a Python is. Raises
    CatalogError if the library does not work on this machine.
    """
    if said == "off":
        return ""
    if said == "auto":
        return next((path for path in _found() if not why_not(path)), "")
    if not said.startswith("/") or not _PLAIN.fullmatch(said):
        what = "not a full path without blanks and colons"
        raise properties.error(_KEY, what, _WOULD_DO)
    if is_there(said) and (why := why_not(said)):
        raise properties.error(_KEY, f"it does not work here: {why}", _WOULD_DO)
    return said


def not_found(said: str, library: str) -> list[str]:
    """A word if ``auto`` has come to no ``library``; else nothing."""
    if said != "auto" or library:
        return []
    return [
        f"darshan:  auto found no {_NAME} here that works without MPI: no task is "
        "logged; --bb-darshan PATH names one"
    ]


def _found() -> Iterator[str]:
    """Libraries on this machine: beside darshan-config, where the loader looks."""
    config = shutil.which("darshan-config")
    prefix = Path(config).resolve().parent.parent if config else None
    folders = [str(prefix / name) for name in ("lib", "lib64")] if prefix else []
    folders += os.environ.get("LD_LIBRARY_PATH", "").split(":")
    for folder in dict.fromkeys([*folders, *_SYSTEM]):
        path = Path(folder, _NAME)
        if path.is_absolute() and _PLAIN.fullmatch(str(path)) and path.is_file():
            yield str(path)


def why_not(library: str) -> str:
    """Why ``library`` cannot count the calls of a program without MPI; empty: it can.

    One that was built with MPI may end every program with an error.
    """
    with tempfile.TemporaryDirectory(prefix="pegasus-bb-darshan-") as folder:
        make_log_folders(folder)
        file = Path(folder, "read")
        file.write_bytes(b"x")
        environ = preloaded(library, folder, dict(os.environ))
        done = ask([_TRIAL, str(file)], timeout=20.0, env=environ)
        if done.status or done.err.strip():
            lines = done.err.strip().splitlines()
            return lines[-1][:200] if lines else f"exit code {done.status}"
        if not any(Path(folder).rglob("*.darshan")):
            return "it leaves no log where DARSHAN_LOGPATH says"
    return ""
