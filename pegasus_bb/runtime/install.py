"""Copies the programs of a run to <submit>/bb: bin/ and lib/.

Planning calls it on the submit host. A run keeps using its copy when the package is
upgraded.
"""

from __future__ import annotations

import contextlib
import os
import py_compile
import re
import shutil
import struct
from importlib.util import MAGIC_NUMBER, cache_from_source

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.refusals import keep_mode

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
    "fork_server",
)
OLDEST_PYTHON = (3, 9)
# All files for compute nodes; a test compares this list with the imports.
FILES = (
    "__init__.py",
    "core/__init__.py",
    "core/errors.py",
    "core/files.py",
    "core/ledger.py",
    "core/paths.py",
    "core/process.py",
    "core/refusals.py",
    "core/removal.py",
    "core/units.py",
    "model/__init__.py",
    "model/backends.py",
    "model/reservation.py",
)
FOLDERS = ("runtime",)
_LEFT_OUT = ("runtime/install.py",)

_BODY = """\
import os, sys
if sys.version_info < (3, 9):
    sys.exit("%s: %s is Python %d.%d, and 3.9 or newer is needed: name one with the property pegasus.bb.python" % ((sys.argv[0], sys.executable) + tuple(sys.version_info[:2])))
_bb = os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[0])))
sys.path.insert(0, os.path.join(_bb, "lib"))
from pegasus_bb.runtime.programs.{name} import main
sys.exit(main())
"""  # noqa: E501
# -I ignores PYTHONPATH, the user's site and the current folder; -S starts faster. The
# shell is needed because a `#!` line has at most one option, and `env -S` needs
# coreutils 8.30: RHEL 7 and the first SLES 15 are older.
_THROUGH_SHELL = """\
#!/bin/sh
''':'
exec {python} -I -S "$0" "$@"
'''
"""


def install_runtime(bb_path: str, python: str = "") -> None:
    """Write bin/ and lib/ of the bb folder ``bb_path``, replacing existing files.

    ``python``: a full path, or ``/usr/bin/env NAME`` for the NAME on a job's PATH;
    empty: ``default_python``. Raises UsageError otherwise.
    """
    start = _start(python or default_python())
    copy_code(os.path.join(bb_path, "lib"))
    folder = os.path.join(bb_path, "bin")
    os.makedirs(folder, exist_ok=True)
    for name in PROGRAMS:
        path = os.path.join(folder, name)
        part = path + ".part"
        text = start + _BODY.format(name=name)
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o755)
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as out:
            out.write(text)
            keep_mode(handle, 0o755, path)  # others run it, on compute nodes too
        os.replace(part, path)


def copy_code(lib: str) -> None:
    """Copy and compile the modules for compute nodes below the folder ``lib``."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for name in travelling_files(package):
        _copy(os.path.join(package, name), os.path.join(lib, "pegasus_bb", name))


def default_python(system: str = "/usr/bin/python3") -> str:
    """The system's Python if it is 3.9 or newer, else python3 on a job's PATH.

    Compute nodes usually run the same system as the submit host, and the first python3
    on PATH may be a wrapper that takes longer to start than a task runs.
    """
    version = re.fullmatch(
        r"python3\.(\d+)", os.path.basename(os.path.realpath(system))
    )
    if (
        version
        and (3, int(version.group(1))) >= OLDEST_PYTHON
        and os.access(system, os.X_OK)
    ):
        return system
    return "/usr/bin/env python3"


def travelling_files(package: str) -> list[str]:
    """Every file of the package that goes into lib/, by its path in the package."""
    files = [name for name in FILES if os.path.exists(os.path.join(package, name))]
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(package, folder)):
            inside = os.path.relpath(path, package)
            files += [f"{inside}/{n}" for n in names if n.endswith((".py", ".so"))]
    files.sort()
    return [name for name in files if name not in _LEFT_OUT]


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
    """Compile once for all runs: the result stays next to ``source``."""
    status = os.stat(source)
    with contextlib.suppress(OSError):  # Python compiles anew where that is refused
        os.utime(dest, ns=(status.st_atime_ns, status.st_mtime_ns))
    compiled = cache_from_source(source)
    try:
        if not _is_current(compiled, status):
            py_compile.compile(source, compiled, doraise=True, quiet=1)
        os.makedirs(os.path.dirname(cache_from_source(dest)), exist_ok=True)
        shutil.copyfile(compiled, cache_from_source(dest))
    except OSError:  # the package belongs to another user
        py_compile.compile(dest, doraise=True, quiet=1)


def _is_current(compiled: str, source: os.stat_result) -> bool:
    numbers = (0, int(source.st_mtime), source.st_size)
    wanted = MAGIC_NUMBER + struct.pack("<3I", *(n & 0xFFFFFFFF for n in numbers))
    try:
        with open(compiled, "rb") as file:
            return file.read(len(wanted)) == wanted
    except FileNotFoundError:
        return False
