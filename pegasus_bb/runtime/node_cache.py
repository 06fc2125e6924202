"""Keeps bb/runtime.zip in a folder of the user's own on the node, once per node.

There it is one file for each Python, `<digest>.<python>`, and a folder `<digest>` with
the compiled helper. The folder belongs to the user and is closed to all others, so that
nothing in it is of another user. bin/<program> looks there; it looks in bb/ no more.
"""

from __future__ import annotations

import hashlib
import io
import marshal
import os
import stat
import sys
import time
from _imp import source_hash
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import MAGIC_NUMBER
from zipfile import ZipFile

from pegasus_bb.core.errors import USAGE
from pegasus_bb.core.files import write_bytes
from pegasus_bb.core.removal import remove

_KEPT = 30 * 86400.0  # seconds that a file stays; one in use is made again
_FIRST = "pegasus_bb.runtime.kept_code"
_HEADER = 16  # bytes of a .pyc before its code
Modules = dict[str, tuple[bool, bytes]]  # name -> is a package, its byte code


def unpack(archive: str, digest: str, places: list[str], name: str) -> None:
    """Keep the modules of ``archive`` in the first of ``places`` that takes them, as
    file ``name``, for later starts.

    The first start on a node only makes the folder: many sites give each job a /tmp of
    its own, where a copy would serve no other start. Ends this process where the
    archive is not the one that was planned.
    """
    data = _planned(archive, digest)
    for place in places:
        with suppress(OSError):  # full, read-only, another user's: the next one
            if not _make_own(place):
                _keep(data, digest, place, name)
            return


def _planned(archive: str, digest: str) -> bytes:
    """The bytes of ``archive``, checked before more of it is used."""
    with open(archive, "rb") as file:
        data = file.read()
    if hashlib.sha256(data).hexdigest() == digest:
        return data
    program = os.path.basename(sys.argv[0])
    changed = "was changed since the plan was made; plan again"
    print(f"{program}: {archive}: {changed}", file=sys.stderr)
    sys.exit(USAGE)


def _keep(data: bytes, digest: str, place: str, name: str) -> None:
    with ZipFile(io.BytesIO(data)) as source:
        _keep_helpers(source, os.path.join(place, digest))
        write_bytes(os.path.join(place, name), image(dict(_modules(source))), 0o600)
    _remove_old(place)


def image(modules: Modules) -> bytes:
    """What a start reads: the size of the head, its hash, and the head, which has the
    code that comes first and says where each module is in the rest."""
    index, rest = {}, b""
    for name, (is_package, code) in modules.items():
        end = len(rest) + len(code)
        index[name] = (is_package, source_hash(0, code), len(rest), end)
        rest += code
    head = marshal.dumps((modules[_FIRST][1], index))
    return len(head).to_bytes(8, "little") + source_hash(0, head) + head + rest


def _modules(source: ZipFile) -> Iterator[tuple[str, tuple[bool, bytes]]]:
    names = set(source.namelist())
    for file in sorted(name for name in names if name.endswith(".py")):
        parts = file[: -len(".py")].split("/")
        is_package = parts[-1] == "__init__"
        compiled = source.read(f"{file}c") if f"{file}c" in names else b""
        if not compiled.startswith(MAGIC_NUMBER):
            code = compile(source.read(file), file, "exec", dont_inherit=True)
            compiled = bytes(_HEADER) + marshal.dumps(code)
        module = ".".join(parts[:-1] if is_package else parts)
        yield module, (is_package, compiled[_HEADER:])


def _make_own(place: str) -> bool:
    """Make ``place``, or check that it is ours alone: whether it is new.

    Raises OSError.
    """
    try:
        os.mkdir(place, 0o700)
        return True
    except FileExistsError:
        found = os.lstat(place)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            raise PermissionError(f"{place} is not ours") from None
        if found.st_mode & 0o077:
            raise PermissionError(f"{place} is open to others") from None
        return False


def _keep_helpers(source: ZipFile, folder: str) -> None:
    part = f"{folder}.{os.getpid()}.part"
    try:
        for name in source.namelist():
            if name.endswith(".so") and not os.path.exists(folder):
                source.extract(name, part)
        if os.path.exists(part):
            with suppress(OSError):  # another start was faster
                os.rename(part, folder)
    finally:
        remove(part)


def _remove_old(place: str) -> None:
    before = time.time() - _KEPT
    with os.scandir(place) as entries:
        old = [entry.path for entry in entries if _age_stamp(entry) < before]
    for path in old:
        with suppress(OSError):
            remove(path)


def _age_stamp(entry: os.DirEntry[str]) -> float:
    try:
        return entry.stat(follow_symlinks=False).st_mtime
    except OSError:
        return sys.float_info.max
