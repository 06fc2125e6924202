"""Writes the programs of a run into <submit>/bb: bin/, and runtime.zip with the code.

Planning calls it on the submit host. A run keeps using its copy when the package is
upgraded.
"""

from __future__ import annotations

import hashlib
import io
import marshal
import os
import py_compile
import re
import struct
from importlib.util import MAGIC_NUMBER, cache_from_source
from zipfile import ZipFile, ZipInfo

from pegasus_bb.core.errors import USAGE, UsageError
from pegasus_bb.core.refusals import keep_mode
from pegasus_bb.runtime.bbdir import ARCHIVE

PROGRAMS = (
    "setup",
    "gate",
    "launch",
    "record",
    "count",
    "cluster",
    "transfer",
    "delete",
    "exitcode",
    "await_stage_out",
    "fork_server",
    "sub_workflow",
)
OLDEST_PYTHON = (3, 9)
# All files for compute nodes; a test compares this list with the imports.
FILES = (
    "__init__.py",
    "core/__init__.py",
    "core/errors.py",
    "core/files.py",
    "core/ledger.py",
    "core/light_typing.py",
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

_HEADER = 16  # bytes of a .pyc before its code
_UNCHECKED = MAGIC_NUMBER + struct.pack("<I", 1)  # Python looks at no source
# The text of a program: it finds the code, and becomes the program.
# What a node keeps has a folder of the user's own, closed to all others.
_BODY = """\
import os, sys
if sys.version_info < (3, 9):
    sys.exit("%s: %s is Python %d.%d, and 3.9 or newer is needed: name one with the property pegasus.bb.python" % ((sys.argv[0], sys.executable) + tuple(sys.version_info[:2])))
import _imp, marshal
here = os.path.dirname(os.path.abspath(sys.argv[0]))
digest, bases = "{digest}", {bases}
name = "%s.%s-%x" % (digest, sys.implementation.cache_tag, sys.hexversion)
places = ["%s/pegasus-bb-%d" % (base, os.geteuid()) for base in bases if base[:1] == "/"]
def kept(place):
    try:
        folder = os.lstat(place)
        if folder.st_uid != os.geteuid() or folder.st_mode & 0o170077 != 0o040000:
            return False
        with open(place + "/" + name, "rb") as file:
            image = memoryview(file.read())
    except OSError:
        return False
    end = 16 + int.from_bytes(image[:8], "little")
    if _imp.source_hash(0, image[16:end]) != image[8:16]:
        return False
    first, index = marshal.loads(image[16:end])
    scope = {{"__name__": "pegasus_bb.runtime.kept_code"}}
    exec(marshal.loads(first), scope)
    scope["use"](index, image[end:], place + "/" + digest)
    return True
if not any(map(kept, places)):
    archive = os.path.dirname(here) + "/runtime.zip"
    if "PEGASUS_BB_SUBMIT_DIR" in os.environ and os.path.exists(here + "/runtime.zip"):
        archive = here + "/runtime.zip"  # it came with the job
    sys.path.insert(0, archive)
    try:
        from pegasus_bb.runtime import node_cache
    except Exception:  # removed, truncated, or edited
        print("%s: %s: is not there or is damaged; plan again" % (os.path.basename(sys.argv[0]), archive), file=sys.stderr)
        sys.exit({usage})
    node_cache.unpack(archive, digest, places, name)
    any(map(kept, places))
from pegasus_bb.runtime.programs.{program} import main
status = main()
if "atexit" not in sys.modules and "threading" not in sys.modules:
    try:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)  # Python would take 3 ms to free what it has
    except OSError:
        pass
sys.exit(status)
"""  # noqa: E501
_BASES = 'os.environ.get("XDG_RUNTIME_DIR", ""), "/tmp", os.environ.get("TMPDIR", "")'
# -I ignores PYTHONPATH, the user's site and the current folder; -S starts faster. The
# shell is needed because a `#!` line has at most one option, and `env -S` needs
# coreutils 8.30: RHEL 7 and the first SLES 15 are older.
_THROUGH_SHELL = """\
#!/bin/sh
''':'
exec {python} -I -S "$0" "$@"
'''
"""


def install_runtime(bb_path: str, python: str = "", *, is_kept: bool = True) -> None:
    """Write bin/ and runtime.zip of the bb folder ``bb_path``, replacing both.

    ``python``: a full path, or ``/usr/bin/env NAME`` for the NAME on a job's PATH;
    empty: ``default_python``. ``is_kept``: nodes keep the code in a folder of their
    own. Raises UsageError.
    """
    data = make_archive()
    texts = program_texts(python, data, is_kept=is_kept)
    folder = os.path.join(bb_path, "bin")
    os.makedirs(folder, exist_ok=True)
    _write(os.path.join(bb_path, ARCHIVE), data, 0o644)
    for name, text in texts.items():  # others run it, on compute nodes too
        _write(os.path.join(folder, name), text.encode(errors="surrogateescape"), 0o755)


def program_texts(
    python: str, archive: bytes, *, is_kept: bool = True
) -> dict[str, str]:
    """The texts of all programs, with ``archive`` as their code. Raises UsageError."""
    start = _start(python or default_python())
    bases = f"({_BASES})" if is_kept else "()"
    digest = hashlib.sha256(archive).hexdigest()
    return {
        name: start
        + _BODY.format(program=name, digest=digest, bases=bases, usage=USAGE)
        for name in PROGRAMS
    }


def _write(path: str, data: bytes, mode: int) -> None:
    part = path + ".part"
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(handle, "wb") as out:
        out.write(data)
        keep_mode(handle, mode, path)
    os.replace(part, path)


def make_archive() -> bytes:
    """The modules for compute nodes with their byte code, and the compiled helper."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    data = io.BytesIO()
    with ZipFile(data, "w") as archive:  # packed, it would take three times as long
        for name in travelling_files(package):
            source = os.path.join(package, name)
            # The helper of any Python: it is a library without one.
            plain = re.sub(r"\.[^/]*\.so$", ".so", name)
            archive.writestr(_entry(plain), _content(source))
            if name.endswith(".py"):
                code = _UNCHECKED + bytes(8) + _code(source)
                archive.writestr(_entry(f"{name}c"), code)
    return data.getvalue()


def _entry(name: str) -> ZipInfo:
    """Without a time: one package always makes one archive."""
    return ZipInfo(f"pegasus_bb/{name}")


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


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


def _code(source: str) -> bytes:
    """The byte code of ``source``, which stays next to it for the next plan."""
    compiled = cache_from_source(source)
    if not _is_current(compiled, os.stat(source)):
        try:
            py_compile.compile(source, compiled, doraise=True, quiet=1)
        except OSError:  # the package belongs to another user
            code = compile(_content(source), source, "exec", dont_inherit=True)
            return marshal.dumps(code)
    return _content(compiled)[_HEADER:]


def _is_current(compiled: str, source: os.stat_result) -> bool:
    numbers = (0, int(source.st_mtime), source.st_size)
    wanted = MAGIC_NUMBER + struct.pack("<3I", *(n & 0xFFFFFFFF for n in numbers))
    try:
        with open(compiled, "rb") as file:
            return file.read(len(wanted)) == wanted
    except OSError:
        return False
