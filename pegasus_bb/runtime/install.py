"""Put what a run needs on compute nodes into <submit>/bb: bin/ and lib/.

Called at planning, on the submit host. A run goes on with its copy
when the package is upgraded.
"""

from __future__ import annotations

import os
import py_compile
import re
import shutil
import struct
from importlib.util import MAGIC_NUMBER, cache_from_source
from typing import List

from pegasus_bb.errors import UsageError

PROGRAMS = (
    "setup",
    "gate",
    "launch",
    "record",
    "count",
    "transfer",
    "delete",
    "exitcode",
    "await_stage_out",
)
# All that travels; a test holds this list and the imports together.
FILES = (
    "__init__.py",
    "errors.py",
    "files.py",
    "ledger.py",
    "paths.py",
    "process.py",
    "removal.py",
    "units.py",
    "model/__init__.py",
    "model/reservation.py",
    "service/__init__.py",
    "service/client.py",
    "service/dataspace.py",
    "service/memory.py",
    "service/protocol.py",
    "service/task.py",
)
FOLDERS = ("draining", "reservation", "runtime", "staging")
_STAYS = ("runtime/install.py",)

_BODY = """\
import os, sys
if sys.version_info < (3, 7):
    sys.exit(sys.argv[0] + ": needs Python 3.7 or newer; say which with the property pegasus.bb.python")
_bb = os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[0])))
sys.path.insert(0, os.path.join(_bb, "lib"))
from pegasus_bb.runtime.{name} import main
sys.exit(main())
"""  # noqa: E501
# -I: no PYTHONPATH of a job, no user's site, no current folder; -S: a fast start. The
# shell stands in between because a `#!` line carries one option at most, and because
# `env -S` came with coreutils 8.30: RHEL 7 and the first SLES 15 are older.
_THROUGH_SHELL = """\
#!/bin/sh
''':'
exec {python} -I -S "$0" "$@"
'''
"""


def install_runtime(bb_path: str, python: str = "") -> None:
    """Write bin/ and lib/ of the bb folder ``bb_path``; replaces what is there.

    ``python``: a full path, or ``/usr/bin/env NAME`` for the NAME on a job's PATH;
    empty: ``default_python``. Raises UsageError otherwise.
    """
    start = _start(python or default_python())
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    target = os.path.join(bb_path, "lib", "pegasus_bb")
    for name in travelling_files(package):
        _copy(os.path.join(package, name), os.path.join(target, name))
    folder = os.path.join(bb_path, "bin")
    os.makedirs(folder, exist_ok=True)
    for name in PROGRAMS:
        path = os.path.join(folder, name)
        part = path + ".part"
        with open(part, "w", encoding="utf-8", errors="surrogateescape") as out:
            out.write(start + _BODY.format(name=name))
        os.chmod(part, 0o755)  # noqa: S103 - others run it, on compute nodes too
        os.replace(part, path)


def default_python(system: str = "/usr/bin/python3") -> str:
    """The system's Python if it is 3.7 or newer, else python3 on a job's PATH.

    Compute nodes mostly run the submit host's system, and what stands first on PATH may
    be a wrapper that takes longer than many a task.
    """
    version = re.fullmatch(
        r"python3\.(\d+)", os.path.basename(os.path.realpath(system))
    )
    if version and int(version.group(1)) >= 7 and os.access(system, os.X_OK):
        return system
    return "/usr/bin/env python3"


def travelling_files(package: str) -> List[str]:
    """Every file of the package that goes into lib/, by its path in the package."""
    found = [name for name in FILES if os.path.exists(os.path.join(package, name))]
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(package, folder)):
            inside = os.path.relpath(path, package)
            found += [f"{inside}/{n}" for n in names if n.endswith((".py", ".so"))]
    found.sort()
    return [name for name in found if name not in _STAYS]


def _start(python: str) -> str:
    name = re.sub(r"^/usr/bin/env +", "", python.strip())
    if re.fullmatch(r"/[!-~]{1,90}", name) and not re.search(r"[\"'\\$`]", name):
        return f"#!{name} -IS\n"
    if not re.fullmatch(r"[A-Za-z0-9._+-]+|/[^\n\r\0\"'\\$`]+", name):
        raise UsageError(
            f"pegasus.bb.python: {python!r} is not a Python to start: write a full "
            "path, or a name that is on PATH on compute nodes, such as python3"
        )
    return _THROUGH_SHELL.format(python=f'"{name}"' if "/" in name else name)


def _copy(source: str, dest: str) -> None:
    os.makedirs(os.path.dirname(dest), exist_ok=True)
    shutil.copyfile(source, dest)
    if dest.endswith(".py"):
        _compile(source, dest)


def _compile(source: str, dest: str) -> None:
    """Compile once, for all jobs of all runs: the result is kept beside ``source``."""
    said = os.stat(source)
    os.utime(dest, ns=(said.st_atime_ns, said.st_mtime_ns))  # Python tells by it
    compiled = cache_from_source(source)
    try:
        if not _is_of(compiled, said):
            py_compile.compile(source, compiled, doraise=True, quiet=1)
        os.makedirs(os.path.dirname(cache_from_source(dest)), exist_ok=True)
        shutil.copyfile(compiled, cache_from_source(dest))
    except OSError:  # the package belongs to another user
        py_compile.compile(dest, doraise=True, quiet=1)


def _is_of(compiled: str, source: os.stat_result) -> bool:
    numbers = (0, int(source.st_mtime), source.st_size)
    wanted = MAGIC_NUMBER + struct.pack("<3I", *(n & 0xFFFFFFFF for n in numbers))
    try:
        with open(compiled, "rb") as file:
            return file.read(len(wanted)) == wanted
    except FileNotFoundError:
        return False
